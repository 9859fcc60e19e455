import type { Event, EventBody, EventOf, Item, Thread, Turn } from "@harnesskit/protocol/threads";
import { type Ending, endUnfinishedTurn } from "./close-open-items.ts";
import { threadError } from "./errors.ts";
import { toEvents } from "./event-log.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ThreadState } from "./thread-state.ts";
import { dequeued } from "./waiting-prompts.ts";

/** How many events are copied together, and about how many characters. */
const batchEvents = 500;
const batchLength = 1_048_576;

/** How the turn ends that was active where a thread is forked. */
const forkedWhileActive: Ending = {
  status: "error",
  error: "The thread was forked while this turn was active: it goes on in the source only.",
  code: "forked",
};

type Fork = Thread & { readonly forkedFrom: NonNullable<Thread["forkedFrom"]> };

export const isFork = (thread: Thread): thread is Fork => thread.forkedFrom !== undefined;

/**
 * Copies the history of its source into a fork, a batch at a time, and closes what was open there. A fork is complete when its log goes
 * beyond the event that it was made at: one that its server left in between is continued. The caller holds its lease. Gives the
 * events that clients are notified of, none for a fork that is complete already. Rejects with -32001 where the source
 * does not have these events any more, and as `signal`: what is copied by then is kept, and the next call goes on behind it.
 */
export const completeFork = async (
  fork: Fork,
  { store, limits, clock }: ServerSettings,
  signal: AbortSignal,
): Promise<readonly Event[]> => {
  const { threadId, forkedFrom } = fork;
  const copied = (await store.lastEvents(threadId, 1)).at(-1)?.seq ?? 0;
  if (copied > forkedFrom.seq) return [];
  const state = new ThreadState(limits.maxHistoryLength);
  const created: EventOf<"thread.created"> = {
    seq: 1,
    time: fork.time.created,
    type: "thread.created",
    data: { threadId, thread: fork },
  };
  let batch: Event[] = [];
  let length = 0;
  const write = async (flush: boolean) => {
    signal.throwIfAborted();
    if (batch.length > 0) await store.append(threadId, batch, { flush });
    batch = [];
    length = 0;
  };
  for await (const event of store.events(forkedFrom.threadId, { limit: forkedFrom.seq })) {
    if (event.seq !== state.lastSeq + 1) break;
    const copy = event.seq === 1 ? created : toCopy(event, fork);
    state.apply(copy);
    if (event.seq <= copied) continue;
    batch.push(copy);
    length += JSON.stringify(copy).length;
    if (batch.length >= batchEvents || length >= batchLength) await write(false);
  }
  if (state.lastSeq !== forkedFrom.seq) throw threadError("thread_not_found", { reason: "source_gone" });
  const now = clock.now();
  const closing: EventBody[] = [
    ...endUnfinishedTurn(state, forkedWhileActive, now),
    ...state.waiting.map((queued) => dequeued(queued, "forked", now)),
    { type: "thread.forked", data: { threadId, from: forkedFrom } },
  ];
  const events = toEvents(closing, forkedFrom.seq, now);
  // What closes the copy is stored as a whole, so that a part of it is never taken for all.
  batch.push(...events);
  await write(true);
  return [created, ...events.slice(-1)];
};

/** The event as the fork has it: of its own thread, and no answer to a request of its own. */
const toCopy = (event: Event, fork: Thread): Event => {
  const data: Record<string, unknown> = { ...event.data, threadId: fork.threadId };
  if ("thread" in data) data.thread = fork;
  for (const key of ["turn", "item", "queued"] as const) {
    if (key in data) data[key] = ofThread(data[key] as Turn | Item, fork.threadId);
  }
  return { ...event, data } as Event;
};

const ofThread = (of: Turn | Item, threadId: string): Turn | Item => {
  const { clientRequestId: _id, requestDigest: _digest, ...rest } = of as Turn;
  return { ...rest, threadId };
};
