import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, openOwnFile, UnsafeFileError } from "@harnesskit/node-kit";
import type { Event } from "@harnesskit/protocol/threads";
import { StoreError, type ThreadLease, type ThreadStore } from "@harnesskit/thread-server";
import { canonicalJson, digest } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { oneLine } from "../terminal/text.ts";
import { harnessDirectory } from "../workspace-directory.ts";
import type { CopyCount } from "./copy-count.ts";

/** Events that are written at once. */
const batchEvents = 200;

const eventsOf = async (store: ThreadStore, threadId: string): Promise<Event[]> => {
  const events: Event[] = [];
  for await (const event of store.events(threadId)) events.push(event);
  return events;
};

const isBeginning = (some: readonly Event[], all: readonly Event[]): boolean =>
  some.length <= all.length &&
  some.every((event, index) => canonicalJson(event) === canonicalJson(all[index]));

const lease = async (store: ThreadStore, threadId: string): Promise<ThreadLease> => {
  try {
    return await store.lease(threadId);
  } catch (cause) {
    if (!StoreError.isInstance(cause) || cause.code !== "thread_locked") throw cause;
    throw new CliError("copy_in_use", `the thread ${oneLine(threadId, 80)} is in use`, {
      hint: "End the server that writes it, and copy again: what was copied stays.",
      cause,
    });
  }
};

const copyArtifacts = async (directory: string, to: ThreadStore, threadId: string): Promise<void> => {
  const path = join(harnessDirectory(directory), "threads", threadId, "artifacts");
  for (const name of await namesIn(path)) {
    const file = await openArtifact(threadId, path, name);
    const writer = await to.openArtifact(threadId, name);
    for await (const text of file.createReadStream({ encoding: "utf8" })) await writer.write(text as string);
    await writer.close();
  }
};

const namesIn = async (path: string): Promise<string[]> => {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Opens a file that the server has made: no link is followed, and nothing else is waited for. */
const openArtifact = async (threadId: string, path: string, name: string) => {
  try {
    return await openOwnFile(join(path, name));
  } catch (cause) {
    if (!UnsafeFileError.isInstance(cause)) throw cause;
    throw new CliError(
      "copy_failed",
      `the artifact ${oneLine(name, 80)} of the thread ${oneLine(threadId, 80)} ${cause.problem}`,
      { hint: "Remove it, and copy again: what was copied stays.", cause },
    );
  }
};

/** Copies a thread with its artifacts; one that an interrupted copy has left is copied anew. */
const copyThread = async (
  directory: string,
  from: ThreadStore,
  to: ThreadStore,
  threadId: string,
): Promise<boolean> => {
  const thread = await from.get(threadId);
  if (thread === undefined) return false;
  const events = await eventsOf(from, threadId);
  if ((await to.get(threadId)) !== undefined) {
    const there = await eventsOf(to, threadId);
    if (!isBeginning(there, events)) {
      const message = `the thread ${oneLine(threadId, 80)} is in TO with other events: nothing of it was overwritten`;
      throw new CliError("copy_conflict", message, { hint: "Copy to an empty store, or remove it there." });
    }
    if (there.length === events.length) return false;
    await lease(to, threadId);
    await to.delete(threadId);
  }
  await to.create(thread);
  const held = await lease(to, threadId);
  try {
    await copyArtifacts(directory, to, threadId);
    for (let start = 0; start < events.length; start += batchEvents) {
      await to.append(threadId, events.slice(start, start + batchEvents), { flush: true });
    }
  } finally {
    await held.release();
  }
  return true;
};

export const copyThreads = async (
  directory: string,
  from: ThreadStore,
  to: ThreadStore,
): Promise<CopyCount> => {
  const all = await from.list();
  let copied = 0;
  for (const { threadId } of all.reverse()) {
    const held = await lease(from, threadId);
    try {
      if (await copyThread(directory, from, to, threadId)) copied++;
    } finally {
      await held.release();
    }
  }
  return { total: all.length, copied };
};

/** Copies the `always` answers. */
export const copyGrants = async (from: ThreadStore, to: ThreadStore): Promise<CopyCount> => {
  const there = new Set((await to.grants()).map(({ grantId }) => grantId));
  const all = await from.grants();
  const missing = all.filter(({ grantId }) => !there.has(grantId));
  for (const grant of missing) await to.addGrant(grant);
  return { total: all.length, copied: missing.length };
};

/** Throws `copy_failed` unless TO has every thread of FROM, with the same events. Returns how many it has compared. */
export const verifyThreads = async (from: ThreadStore, to: ThreadStore): Promise<number> => {
  const all = await from.list();
  for (const { threadId } of all) {
    const [one, other] = [await eventsOf(from, threadId), await eventsOf(to, threadId)];
    const digests = await Promise.all(
      [one, other].map((events) => digest(JSON.parse(JSON.stringify(events)))),
    );
    if (digests[0] !== digests[1]) {
      throw new CliError(
        "copy_failed",
        `the thread ${oneLine(threadId, 80)} is not in TO what it is in FROM`,
        {
          hint: "End the servers that use both stores, and copy again.",
        },
      );
    }
  }
  return all.length;
};
