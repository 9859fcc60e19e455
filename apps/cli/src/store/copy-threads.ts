import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifPresent, UnsafeFileError } from "@harnesskit/node-kit";
import type { Event } from "@harnesskit/protocol/threads";
import type { ThreadLease, ThreadStore } from "@harnesskit/thread-server";
import { CliError } from "../cli-error.ts";
import { harnessDirectory } from "../workspace-directory.ts";
import { type CopyCount, conflict, copyEach, copyHeld, sameJson, taken } from "./copy-kind.ts";

/** Threads in the files below a directory's `.harness`. */
export interface ThreadFiles {
  readonly directory: string;
  readonly threads: ThreadStore;
}

/** Events that are written at once. */
const batchEvents = 200;
/** How long a thread of TO is kept from others by a copy that was killed. */
export const threadLeaseMs = 5000;

const eventsOf = async (store: ThreadStore, threadId: string): Promise<Event[]> => {
  const events: Event[] = [];
  for await (const event of store.events(threadId)) events.push(event);
  return events;
};

const isBeginning = (some: readonly Event[], all: readonly Event[]): boolean =>
  some.length <= all.length && some.every((event, index) => sameJson(event, all[index]));

const lease = (store: ThreadStore, threadId: string): Promise<ThreadLease> =>
  taken(`the thread ${threadId}`, () => store.lease(threadId));

/** Copies what a thread has written beside its events to a thread that has nothing of it yet. */
const copyArtifacts = async (
  { directory, threads }: ThreadFiles,
  to: ThreadStore,
  threadId: string,
): Promise<void> => {
  const path = join(harnessDirectory(directory), "threads", threadId, "artifacts");
  for (const name of ((await ifPresent(readdir(path))) ?? []).sort()) {
    const writer = await to.openArtifact(threadId, name);
    try {
      for await (const part of threads.readArtifact(threadId, name)) await writer.write(part);
    } catch (cause) {
      if (!UnsafeFileError.isInstance(cause)) throw cause;
      throw new CliError("copy_failed", `the artifact ${name} of the thread ${threadId} ${cause.problem}`, {
        hint: "Remove it, and copy again: what was copied stays.",
        cause,
      });
    }
    await writer.close();
  }
};

/** Copies a thread with its artifacts; one that an interrupted copy has left is copied anew. */
const copyThread = async (from: ThreadFiles, to: ThreadStore, threadId: string): Promise<boolean> => {
  const thread = await from.threads.get(threadId);
  if (thread === undefined) return false;
  const events = await eventsOf(from.threads, threadId);
  const found = await to.get(threadId);
  if (found !== undefined) {
    const there = await eventsOf(to, threadId);
    if (!isBeginning(there, events)) throw conflict("the thread", threadId);
    if (there.length === events.length) {
      if (!sameJson(found, thread)) throw conflict("the thread", threadId);
      return false;
    }
    await lease(to, threadId);
    await to.delete(threadId);
  }
  await to.create(thread);
  const held = await lease(to, threadId);
  try {
    // Events last: a thread that has all of them is whole.
    await copyArtifacts(from, to, threadId);
    for (let start = 0; start < events.length; start += batchEvents) {
      await to.append(threadId, events.slice(start, start + batchEvents), { flush: true });
    }
  } finally {
    await held.release();
  }
  return true;
};

export const copyThreads = async (from: ThreadFiles, to: ThreadStore): Promise<CopyCount> => {
  const ids = (await from.threads.list()).reverse().map(({ threadId }) => threadId);
  const take = (id: string) => from.threads.lease(id);
  return copyHeld("the thread", ids, take, (id) => copyThread(from, to, id));
};

/** Copies the `always` answers. */
export const copyGrants = async (from: ThreadStore, to: ThreadStore): Promise<CopyCount> => {
  const there = new Map((await to.grants()).map((grant) => [grant.grantId, grant]));
  return copyEach(await from.grants(), {
    what: "the grant",
    idOf: ({ grantId }) => grantId,
    find: ({ grantId }) => there.get(grantId),
    put: (grant) => to.addGrant(grant),
  });
};
