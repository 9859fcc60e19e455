import type { Thread, ThreadMethodParams } from "@harnesskit/protocol/threads";
import { digest, InvalidArgumentError, invalidParams } from "@harnesskit/wire";
import { requestConflict, threadError } from "./errors.ts";
import type { ServerSettings } from "./server-settings.ts";

/** What makes a request safe to send again: its `clientRequestId`, and the digest of what was asked with it. */
export interface RequestName {
  readonly clientRequestId: string;
  readonly requestDigest: string;
}

/** The name of a request; undefined where the client gave it none. Throws -32602 for params without a canonical form, such as half of a surrogate pair. */
export const nameRequest = async (
  method: string,
  { clientRequestId, ...payload }: { readonly clientRequestId?: string | undefined },
): Promise<RequestName | undefined> => {
  if (clientRequestId === undefined) return undefined;
  try {
    return { clientRequestId, requestDigest: await digest({ method, payload }) };
  } catch (error) {
    throw InvalidArgumentError.isInstance(error) ? invalidParams(error.message) : error;
  }
};

/** The thread that a `thread.create` makes. Throws -32602 for a directory that cannot be, and as {@link claimThread}. */
export const threadToCreate = async (
  params: NonNullable<ThreadMethodParams<"thread.create">>,
  settings: ServerSettings,
): Promise<Thread> => {
  const { title = "New thread" } = params;
  const directory = await settings.resolveDirectory(params.directory);
  return claimThread("thread.create", params, { title, directory }, settings);
};

/**
 * The thread that a `thread.fork` makes of a source whose last event has the number `lastSeq`. Throws -32602 `seq_out_of_range`,
 * and as {@link claimThread}.
 */
export const threadToFork = async (
  params: ThreadMethodParams<"thread.fork">,
  source: Thread,
  lastSeq: number,
  settings: ServerSettings,
): Promise<Thread> => {
  const { threadId, seq = lastSeq, title = source.title } = params;
  if (seq > lastSeq) {
    const text = `The thread has no event ${seq}: its last one is ${lastSeq}`;
    throw invalidParams(text, { reason: "seq_out_of_range", param: "seq", lastSeq });
  }
  const { directory } = source;
  return claimThread("thread.fork", params, { title, directory, forkedFrom: { threadId, seq } }, settings);
};

/**
 * A new thread. With a `clientRequestId` it has the id that was claimed under that name, by whichever server saw the request
 * first: sent again, it names the same thread. Throws -32005 for another payload, -32001 when its thread was deleted since.
 */
const claimThread = async (
  method: "thread.create" | "thread.fork",
  params: { readonly clientRequestId?: string | undefined },
  made: Omit<Thread, "threadId" | "time">,
  { clock, createId, store }: ServerSettings,
): Promise<Thread> => {
  const created = clock.now();
  const { title, directory, ...more } = made;
  const time = { created, updated: created };
  const thread: Thread = { threadId: createId("ses"), title, directory, time, ...more };
  const name = await nameRequest(method, params);
  if (name === undefined) return thread;
  const key = `${method} ${name.clientRequestId}`;
  const mine = { threadId: thread.threadId, requestDigest: name.requestDigest };
  const { threadId, requestDigest: asked } = await store.claim(key, mine);
  if (asked !== mine.requestDigest) throw requestConflict();
  if (threadId === thread.threadId) return thread;
  const stored = await store.get(threadId);
  if (stored) return stored;
  // Either it was deleted, or the server that claimed it has not created it. Asked now, so that no deletion comes in between.
  if ((await store.claim(key, mine)).isDeleted)
    throw threadError("thread_not_found", { reason: "thread_deleted" });
  return { ...thread, threadId };
};
