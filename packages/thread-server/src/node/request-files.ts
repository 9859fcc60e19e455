import { join } from "node:path";
import { sha256Hex } from "@harnesskit/node-kit";
import { ThreadStoreError } from "../errors.ts";
import type { KeptClaim, ThreadClaim } from "../thread-store.ts";
import { type StoreDirectory, unlessMissing } from "./store-directory.ts";
import { isThreadId } from "./thread-files.ts";

/** How often a claim is tried that others remove while it is read. */
const maxAttempts = 10;

/** A claim is two short words. */
const maxClaimBytes = 4096;

/**
 * What is remembered of requests: a file for each claimed key, made exclusively and named by the key's hash, and one for
 * each deleted thread (`{threadId}.deleted`).
 */
export class RequestFiles {
  /** @param maxRequests files that are kept; past it the oldest go, a tenth at a time */
  constructor(
    readonly directory: StoreDirectory,
    readonly maxRequests: number,
  ) {}

  async claim(key: string, claim: ThreadClaim): Promise<KeptClaim> {
    const { directory } = this;
    const name = `${sha256Hex(key)}.txt`;
    await directory.make();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await directory.create(name, `${claim.threadId} ${claim.requestDigest}`)) {
        await this.#prune();
        return { ...claim, isDeleted: false };
      }
      // The server that created it may not have come to this yet.
      await directory.sync();
      const text = await directory.read(name, maxClaimBytes);
      if (text === undefined) continue;
      const [threadId = "", ...rest] = text.split(" ");
      const isDeleted = isThreadId(threadId) && (await directory.has(deletionMark(threadId)));
      return { threadId, requestDigest: rest.join(" "), isDeleted };
    }
    throw new ThreadStoreError("store_failed", "The request could not be claimed");
  }

  /** Notes that a thread is deleted, for later claims. Where nothing was ever claimed there is nothing to note. */
  async markDeleted(threadId: string): Promise<void> {
    const { directory } = this;
    if ((await directory.names()) === undefined) return;
    await directory.create(deletionMark(threadId), "");
    await this.#prune();
  }

  /** Removes the oldest of too many. What cannot be removed now is removed another time: the request itself is served. */
  async #prune(): Promise<void> {
    const { directory, maxRequests } = this;
    try {
      const names = (await directory.names()) ?? [];
      if (names.length <= maxRequests) return;
      const files: { readonly name: string; readonly time: number }[] = [];
      for (const name of names) {
        const found = await unlessMissing(directory.fileSystem.lstat(join(directory.path, name)));
        if (found) files.push({ name, time: found.mtimeMs });
      }
      // Of the same moment, a claim goes before the mark of its thread.
      files.sort((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1));
      const oldest = files.slice(0, files.length - Math.floor(maxRequests * 0.9));
      for (const { name } of oldest) await directory.remove(name);
    } catch {
      // The next request tries again.
    }
  }
}

const deletionMark = (threadId: string): string => `${threadId}.deleted`;
