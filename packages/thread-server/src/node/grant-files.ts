import { join } from "node:path";
import { type Grant, GrantSchema } from "@harnesskit/protocol/threads";
import { StoreError } from "../errors.ts";
import type { GrantSeal } from "./grant-key.ts";
import { makeDirectory } from "./make-directory.ts";
import { isMissing } from "./store-failure.ts";
import { type StoreFileSystem, syncDirectory } from "./store-file-system.ts";
import { writeFileAtomic } from "./write-file-atomic.ts";

/** How many `always` answers are kept; one more is refused rather than another forgotten. */
const maxGrants = 10_000;

const fileSafeId = /^grant_[A-Za-z0-9]{1,64}$/;

/** The `always` answers, a file each: `grants/{grantId}.json`. */
export class GrantFiles {
  constructor(
    readonly fileSystem: StoreFileSystem,
    readonly directory: string,
    readonly seal: GrantSeal,
  ) {}

  async add(grant: Grant): Promise<void> {
    await makeDirectory(this.fileSystem, this.directory);
    if ((await this.#names()).length >= maxGrants) {
      throw new StoreError("store_full", `No more than ${maxGrants} answers are kept: revoke some`);
    }
    const sealed = { ...grant, seal: await this.seal.seal(grant) };
    await writeFileAtomic(this.fileSystem, this.#path(grant.grantId), `${JSON.stringify(sealed, null, 2)}\n`);
  }

  /** False where there is none. */
  async remove(grantId: string): Promise<boolean> {
    if (!fileSafeId.test(grantId)) return false;
    try {
      await this.fileSystem.rm(this.#path(grantId));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await syncDirectory(this.fileSystem, this.directory);
    return true;
  }

  /** What holds; a file that is no grant, or that was not sealed with the user's key, allows nothing. */
  async list(): Promise<Grant[]> {
    const grants: Grant[] = [];
    for (const name of await this.#names()) {
      try {
        const text = await this.fileSystem.readFile(join(this.directory, name), "utf8");
        const value: unknown = JSON.parse(text);
        const { success, data } = GrantSchema.safeParse(value);
        if (!success || name !== `${data.grantId}.json`) continue;
        if (await this.seal.holds(data, (value as { seal?: unknown }).seal)) grants.push(data);
      } catch (error) {
        if (!isMissing(error) && !(error instanceof SyntaxError)) throw error;
      }
    }
    return grants;
  }

  async #names(): Promise<string[]> {
    try {
      const names = await this.fileSystem.readdir(this.directory);
      return names.filter((name) => name.endsWith(".json") && fileSafeId.test(name.slice(0, -5)));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  #path(grantId: string): string {
    if (!fileSafeId.test(grantId))
      throw new StoreError("store_failed", "The grant id is not one of this store");
    return join(this.directory, `${grantId}.json`);
  }
}
