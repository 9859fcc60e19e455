import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { createFileAtomic, makeDirectory, readOwnFile } from "@harnesskit/node-kit";
import { canonicalJson } from "@harnesskit/wire";
import { ThreadStoreError } from "../errors.ts";
import type { AnswerSeal } from "../thread-store.ts";
import { type StoreFileSystem, unlessMissing } from "./store-directory.ts";

const maxKeyBytes = 4096;

/** Where the user's key lies: outside of every workspace. */
export const defaultGrantKeyPath = (): string => {
  const { XDG_STATE_HOME: state = "" } = process.env;
  // From the working directory it would lie in the workspace.
  return join(isAbsolute(state) ? state : join(homedir(), ".local", "state"), "harnesskit", "grants.key");
};

/**
 * Seals what the user allowed with a key of the user's own. A person who can put a file into a workspace, a cloned repository for
 * one, does not have it, and so cannot bring answers along that the user never gave.
 */
export class GrantSeal implements AnswerSeal {
  #key: string | undefined;

  constructor(
    readonly fileSystem: StoreFileSystem,
    readonly keyPath: string,
  ) {}

  /** The seal of an answer. Makes the key with the first one. */
  async seal(answer: object): Promise<string> {
    if ((await this.#read()) === undefined) {
      await makeDirectory(dirname(this.keyPath), this.fileSystem);
      await createFileAtomic(this.keyPath, randomBytes(32).toString("hex"), this.fileSystem);
    }
    const key = await this.#read();
    if (key === undefined)
      throw new ThreadStoreError("store_failed", "The key that seals grants cannot be read");
    return hmac(key, answer);
  }

  /** True for an answer that was sealed with this key. */
  async holds(answer: object, seal: unknown): Promise<boolean> {
    const key = await this.#read();
    if (key === undefined || typeof seal !== "string") return false;
    try {
      const expected = Buffer.from(hmac(key, answer));
      const given = Buffer.from(seal);
      return expected.length === given.length && timingSafeEqual(expected, given);
    } catch {
      // A value without a canonical form was never sealed.
      return false;
    }
  }

  async #read(): Promise<string | undefined> {
    const { fileSystem, keyPath } = this;
    const read = () => readOwnFile(keyPath, { maxBytes: maxKeyBytes, fileSystem });
    this.#key ??= (await unlessMissing(read()))?.toString("utf8");
    return this.#key;
  }
}

const hmac = (key: string, answer: object): string =>
  createHmac("sha256", key).update(canonicalJson(answer)).digest("hex");
