import { createHash } from "node:crypto";
import { join } from "node:path";
import { createFileAtomic, isMissing, makeDirectory, syncDirectory } from "@harnesskit/node-kit";
import { StoreError } from "../errors.ts";
import type { KeptClaim, ThreadClaim } from "../thread-store.ts";
import type { StoreFileSystem } from "./store-file-system.ts";
import { isFileSafeId } from "./thread-files.ts";

export interface RequestFilesOptions {
  readonly fileSystem: StoreFileSystem;
  readonly directory: string;
  /** Files that are kept; past it the oldest go, a tenth at a time. */
  readonly maxRequests: number;
  /** How long a file is kept. */
  readonly maxRequestAgeMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How often a claim is tried that others remove while it is read. */
const maxAttempts = 10;

/** How long nothing is looked at for its age alone. */
const pruneIntervalMs = 60 * 60 * 1000;

/** How many files are looked at together. */
const parallelLooks = 32;

/** A claim is two short words. */
const maxClaimBytes = 4096;

interface Aged {
  readonly name: string;
  readonly time: number;
}

/**
 * What is remembered of requests: a file for each claimed key, made exclusively and named by the key's hash, and one for
 * each deleted thread (`{threadId}.deleted`).
 */
export class RequestFiles {
  readonly #options: RequestFilesOptions;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RequestFilesOptions) {
    this.#options = options;
  }

  async claim(key: string, claim: ThreadClaim): Promise<KeptClaim> {
    const { fileSystem, directory } = this.#options;
    const path = join(directory, `${createHash("sha256").update(key).digest("hex")}.txt`);
    await makeDirectory(directory, fileSystem);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await createFileAtomic(path, toText(claim), fileSystem)) {
        await this.prune();
        return { ...claim, isDeleted: false };
      }
      // Whoever made it may not have come to this yet.
      await syncDirectory(directory, fileSystem);
      const text = await this.#read(path);
      if (text === undefined) continue;
      const kept = toClaim(text);
      return { ...kept, isDeleted: await this.#isMarked(kept.threadId) };
    }
    throw new StoreError("store_failed", "The request could not be claimed");
  }

  /** Notes that a thread is deleted, for who claims it. Where nothing was ever claimed there is nothing to note. */
  async markDeleted(threadId: string): Promise<void> {
    const { fileSystem, directory } = this.#options;
    if (!(await this.#exists(directory))) return;
    await createFileAtomic(this.#markPath(threadId), "", fileSystem);
    await this.prune();
  }

  /** Removes what is too old or too much. What cannot be removed now is removed another time. */
  async prune(): Promise<void> {
    const { fileSystem, directory, maxRequests, maxRequestAgeMs, now } = this.#options;
    try {
      const names = await fileSystem.readdir(directory);
      if (names.length <= maxRequests && now() - this.#prunedAt < pruneIntervalMs) return;
      this.#prunedAt = now();
      const files = await this.#byAge(names);
      const tooMany = files.length <= maxRequests ? 0 : files.length - Math.floor(maxRequests * 0.9);
      for (const [index, { name, time }] of files.entries()) {
        if (index >= tooMany && now() - time <= maxRequestAgeMs) break;
        await fileSystem.rm(join(directory, name), { force: true });
      }
    } catch {
      // The request itself is served; the next one tries again.
    }
  }

  /** The oldest first; of the same moment, a claim before the mark of its thread. */
  async #byAge(names: readonly string[]): Promise<Aged[]> {
    const { fileSystem, directory } = this.#options;
    const files: Aged[] = [];
    for (let start = 0; start < names.length; start += parallelLooks) {
      const some = names.slice(start, start + parallelLooks).map(async (name): Promise<Aged[]> => {
        try {
          return [{ name, time: (await fileSystem.lstat(join(directory, name))).mtimeMs }];
        } catch (error) {
          if (isMissing(error)) return [];
          throw error;
        }
      });
      files.push(...(await Promise.all(some)).flat());
    }
    return files.sort((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1));
  }

  async #isMarked(threadId: string): Promise<boolean> {
    return isFileSafeId(threadId) && this.#exists(this.#markPath(threadId));
  }

  #markPath(threadId: string): string {
    return join(this.#options.directory, `${threadId}.deleted`);
  }

  async #exists(path: string): Promise<boolean> {
    try {
      await this.#options.fileSystem.lstat(path);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async #read(path: string): Promise<string | undefined> {
    try {
      return await this.#options.fileSystem.readFile(path, maxClaimBytes);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}

const toText = ({ threadId, requestDigest }: ThreadClaim): string => `${threadId} ${requestDigest}`;

const toClaim = (text: string): ThreadClaim => {
  const [threadId = "", ...rest] = text.split(" ");
  return { threadId, requestDigest: rest.join(" ") };
};
