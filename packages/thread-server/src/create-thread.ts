import type { Thread, ThreadMethodParams } from "@harnesskit/protocol/threads";
import { requestConflict } from "./errors.ts";
import { requestDigest } from "./request-digest.ts";
import type { ServerSettings } from "./server-settings.ts";

/**
 * The thread that a `thread.create` makes. With a `clientRequestId` it has the id that was claimed under that name, by
 * whichever server saw the request first: sent again, it names the same thread. Throws -32005 for another payload, and
 * -32602 for a directory that cannot be.
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
  const mine = `${thread.threadId} ${await requestDigest("thread.create", params)}`;
  const kept = await store.claim(`thread.create ${clientRequestId}`, mine);
  const [threadId = "", asked] = kept.split(" ");
  if (asked !== mine.split(" ")[1]) throw requestConflict();
  return (await store.get(threadId)) ?? { ...thread, threadId };
};
