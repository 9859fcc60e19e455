import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  isMissing,
  makeDirectory,
  syncDirectory,
  UnsafeFileError,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { type Grant, GrantSchema } from "@harnesskit/protocol/threads";
import { StoreError } from "../errors.ts";
import type { GrantSeal } from "./grant-key.ts";
import type { StoreFileSystem } from "./store-file-system.ts";

/** How many `always` answers are kept; one more is refused rather than another forgotten. */
const maxGrants = 10_000;

/** Bytes of one of them, the input of its call included. */
const maxGrantBytes = 64 * 1024 * 1024;

const fileSafeId = /^grant_[A-Za-z0-9]{1,64}$/;

/** The name of a file: the grant's id, and the mark of the digest that it answers for. */
const fileName = /^(grant_[A-Za-z0-9]{1,64})\.([0-9a-f]{32})\.json$/;

/** Stands for a digest in a file's name. */
const markOf = (digest: string): string => createHash("sha256").update(digest).digest("hex").slice(0, 32);

interface GrantName {
  readonly name: string;
  readonly grantId: string;
  readonly mark: string;
}

/** The `always` answers, a file each: `grants/{grantId}.{mark of the digest}.json`. */
export class GrantFiles {
  constructor(
    readonly fileSystem: StoreFileSystem,
    readonly directory: string,
    readonly seal: GrantSeal,
  ) {}

  async add(grant: Grant): Promise<void> {
    await makeDirectory(this.directory, this.fileSystem);
    if ((await this.#names()).length >= maxGrants) {
      throw new StoreError("store_full", `No more than ${maxGrants} answers are kept: revoke some`);
    }
    const sealed = { ...grant, seal: await this.seal.seal(grant) };
    const text = `${JSON.stringify(sealed, null, 2)}\n`;
    if (Buffer.byteLength(text) > maxGrantBytes) {
      throw new StoreError(
        "store_full",
        `An answer for always has at most ${maxGrantBytes} bytes: allow it once`,
      );
    }
    await writeFileAtomic(this.#path(grant), text, this.fileSystem);
  }

  /** False where there is none. */
  async remove(grantId: string): Promise<boolean> {
    let isRemoved = false;
    for (const { name, grantId: of } of await this.#names()) {
      if (of !== grantId) continue;
      try {
        await this.fileSystem.rm(join(this.directory, name));
        isRemoved = true;
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    if (isRemoved) await syncDirectory(this.directory, this.fileSystem);
    return isRemoved;
  }

  /**
   * What holds, all or what answers for a digest; a file that is no grant, is not a regular file, has another one's name, or was not
   * sealed with the user's key, allows nothing. With a digest no other file is read.
   */
  async list(digest?: string): Promise<Grant[]> {
    const wanted = digest === undefined ? undefined : markOf(digest);
    const grants: Grant[] = [];
    for (const { name, grantId, mark } of await this.#names()) {
      if (wanted !== undefined && mark !== wanted) continue;
      try {
        const text = await this.fileSystem.readFile(join(this.directory, name), maxGrantBytes);
        const value: unknown = JSON.parse(text);
        const { success, data } = GrantSchema.safeParse(value);
        if (!success || data.grantId !== grantId || markOf(data.digest) !== mark) continue;
        if (digest !== undefined && digest !== data.digest) continue;
        if (await this.seal.holds(data, (value as { seal?: unknown }).seal)) grants.push(data);
      } catch (error) {
        if (isMissing(error) || error instanceof SyntaxError || UnsafeFileError.isInstance(error)) continue;
        throw error;
      }
    }
    return grants;
  }

  async #names(): Promise<GrantName[]> {
    try {
      const names = await this.fileSystem.readdir(this.directory);
      return names.flatMap((name) => {
        const [, grantId, mark] = fileName.exec(name) ?? [];
        return grantId === undefined || mark === undefined ? [] : [{ name, grantId, mark }];
      });
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #path({ grantId, digest }: Grant): string {
    if (!fileSafeId.test(grantId))
      throw new StoreError("store_failed", "The grant id is not one of this store");
    return join(this.directory, `${grantId}.${markOf(digest)}.json`);
  }
}
