import type { Thread, ThreadMethodParams } from "@harnesskit/protocol/threads";
import { requestConflict, threadNotFound } from "./errors.ts";
import { requestDigest } from "./request-digest.ts";
import type { ServerSettings } from "./server-settings.ts";

/**
 * The thread that a `thread.create` makes. With a `clientRequestId` it has the id that was claimed under that name, by
 * whichever server saw the request first: sent again, it names the same thread. Throws -32005 for another payload,
 * -32001 when its thread was deleted since, and -32602 for a directory that cannot be.
 */
export const threadToCreate = async (
  params: NonNullable<ThreadMethodParams<"thread.create">>,
  { clock, createId, resolveDirectory, store }: ServerSettings,
): Promise<Thread> => {
  const { title = "New thread", directory, clientRequestId } = params;
  const created = clock.now();
  const thread: Thread = {
    threadId: createId("ses"),
    title,
    directory: await resolveDirectory(directory),
    time: { created, updated: created },
  };
  if (clientRequestId === undefined) return thread;
  const key = `thread.create ${clientRequestId}`;
  const mine = { threadId: thread.threadId, requestDigest: await requestDigest("thread.create", params) };
  const { threadId, requestDigest: asked } = await store.claim(key, mine);
  if (asked !== mine.requestDigest) throw requestConflict();
  if (threadId === thread.threadId) return thread;
  const made = await store.get(threadId);
  if (made) return made;
  // Either it was deleted, or the server that claimed it has not created it. Asked now, so that no deletion comes in between.
  if ((await store.claim(key, mine)).isDeleted) throw threadNotFound({ reason: "thread_deleted" });
  return { ...thread, threadId };
};
