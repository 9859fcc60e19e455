import { sha256Hex, UnsafeFileError } from "@harnesskit/node-kit";
import { type Grant, GrantSchema } from "@harnesskit/protocol/threads";
import { ThreadStoreError } from "../errors.ts";
import type { GrantSeal } from "./grant-key.ts";
import type { StoreDirectory } from "./store-directory.ts";

/** How many `always` answers are kept; one more is refused rather than another forgotten. */
const maxGrants = 10_000;

/** Bytes of one of them, the input of its call included: more than a message can have. A larger file is not read. */
const maxGrantBytes = 64 * 1024 * 1024;

/** Stands for a digest in a file's name. */
const markOf = (digest: string): string => sha256Hex(digest).slice(0, 32);

/** The name of a file: the grant's id, and the mark of the digest that it answers for. */
const fileName = /^(grant_[A-Za-z0-9]{1,64})\.([0-9a-f]{32})\.json$/;

const grantFileName = ({ grantId, digest }: Grant): string => `${grantId}.${markOf(digest)}.json`;

/** The `always` answers, a file each: `grants/{grantId}.{mark of the digest}.json`. */
export class GrantFiles {
  constructor(
    readonly directory: StoreDirectory,
    readonly seal: GrantSeal,
  ) {}

  async add(grant: Grant): Promise<void> {
    if (!fileName.test(grantFileName(grant)))
      throw new ThreadStoreError("store_failed", "The grant id is not one of this store");
    await this.directory.make();
    if ((await this.#files()).length >= maxGrants)
      throw new ThreadStoreError("store_full", `No more than ${maxGrants} answers are kept: revoke some`);
    const text = `${JSON.stringify({ ...grant, seal: await this.seal.seal(grant) }, null, 2)}\n`;
    await this.directory.write(grantFileName(grant), text);
  }

  /** False without one. */
  async remove(grantId: string): Promise<boolean> {
    let isRemoved = false;
    for (const file of await this.#files())
      if (file.grantId === grantId && (await this.directory.remove(file.name))) isRemoved = true;
    if (isRemoved) await this.directory.sync();
    return isRemoved;
  }

  /** What holds: all, or what answers for a digest; then no other file is read. */
  async list(digest?: string): Promise<Grant[]> {
    const wanted = digest === undefined ? undefined : markOf(digest);
    const grants: Grant[] = [];
    for (const { name, mark } of await this.#files()) {
      if (wanted !== undefined && mark !== wanted) continue;
      const grant = await this.#read(name);
      if (grant && (digest === undefined || grant.digest === digest)) grants.push(grant);
    }
    return grants;
  }

  /** A file that is not a grant, has another one's name, or was not sealed with the user's key, allows nothing. */
  async #read(name: string): Promise<Grant | undefined> {
    try {
      const value: unknown = JSON.parse((await this.directory.read(name, maxGrantBytes)) ?? "");
      const { success, data } = GrantSchema.safeParse(value);
      if (!success || grantFileName(data) !== name) return undefined;
      return (await this.seal.holds(data, (value as { seal?: unknown }).seal)) ? data : undefined;
    } catch (error) {
      if (error instanceof SyntaxError || UnsafeFileError.isInstance(error)) return undefined;
      throw error;
    }
  }

  async #files() {
    return ((await this.directory.names()) ?? []).flatMap((name) => {
      const [, grantId, mark] = fileName.exec(name) ?? [];
      return grantId === undefined ? [] : [{ name, grantId, mark }];
    });
  }
}
