import type { Event, EventName, Thread } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { logChanged } from "./errors.ts";
import { ThreadState } from "./thread-state.ts";
import type { ThreadStore } from "./thread-store.ts";

/**
 * Reads a part of a log, as much as fits; `isCut` where more events follow, if none came because the first one alone exceeds `maxBytes`. Rejects
 * with `log_changed` when the log ends before its last event, where the number of that is known.
 */
export const readPage = async (
  store: Pick<ThreadStore, "events">,
  threadId: string,
  {
    afterSeq,
    limit,
    maxBytes,
    lastSeq = 0,
  }: { afterSeq: number; limit: number | undefined; maxBytes: number; lastSeq: number | undefined },
): Promise<{ readonly events: readonly Event[]; readonly isCut: boolean }> => {
  const events: Event[] = [];
  let bytes = 0;
  const options = limit === undefined ? { afterSeq } : { afterSeq, limit: limit + 1 };
  for await (const event of store.events(threadId, options)) {
    bytes += utf8Length(JSON.stringify(event)) + 1;
    if (events.length === limit || bytes > maxBytes) return { events, isCut: true };
    events.push(event);
  }
  const isCut = (events.at(-1)?.seq ?? afterSeq) < lastSeq;
  if (isCut && events.length !== limit) throw logChanged();
  return { events, isCut };
};

const eventAt = async (store: ThreadStore, threadId: string, seq: number): Promise<Event | undefined> => {
  for await (const event of store.events(threadId, { afterSeq: seq - 1, limit: 1 })) {
    return event.seq === seq ? event : undefined;
  }
  return undefined;
};

/**
 * Makes sure that a log can be followed from where a client stopped: -32602 `log_went_back` when the event that the client heard last, of that
 * number and time, is not in it, `log_changed` when the log ends before its last event.
 */
export const checkHeard = async (
  store: ThreadStore,
  threadId: string,
  { afterSeq, afterTime, lastSeq }: { afterSeq: number; afterTime: number; lastSeq: number },
): Promise<void> => {
  if (!(await eventAt(store, threadId, lastSeq))) throw logChanged();
  if (afterSeq === 0) return;
  const last = await eventAt(store, threadId, afterSeq);
  if (last?.time !== afterTime) {
    const text = "The log of the thread is not the one that was heard: it went back and goes on otherwise";
    throw invalidParams(text, { reason: "log_went_back", lastSeq });
  }
};

/** Removes a thread whose creation failed, as far as that can be: one that has an event was created. */
export const discardThread = async ({ threadId }: Thread, store: ThreadStore): Promise<void> => {
  try {
    if ((await store.lastEvents(threadId, 1)).length === 0) await store.delete(threadId);
  } catch {
    // The next server that opens it completes it.
  }
};

/** The number of the last event of a log, 0 without one. */
export const lastSeqOf = async (store: ThreadStore, threadId: string): Promise<number> =>
  (await store.lastEvents(threadId, 1)).at(-1)?.seq ?? 0;

/** The end of the log, back to the start of its last turn at least: so much is needed to go on with that turn. */
const readLastTurns = async (store: ThreadStore, threadId: string, maxBytes: number): Promise<Event[]> => {
  for (let bytes = maxBytes; ; bytes *= 4) {
    const events = await store.lastEvents(threadId, bytes);
    if (events.length === 0 || events[0]?.seq === 1) return events;
    if (events.some(({ type }) => type === "turn.started")) return events;
  }
};

const queueEvents: readonly EventName[] = ["turn.queued", "turn.dequeued", "turn.started"];

/** Where the start of the first turn at the end of a log says that something begins, if it begins before these events. */
const before = (tail: readonly Event[], what: "queuedSince" | "summarySeq"): number | undefined => {
  const started = tail.find((event) => event.type === "turn.started");
  const seq = started?.type === "turn.started" ? started.data[what] : undefined;
  return seq !== undefined && seq < (tail[0]?.seq ?? 1) ? seq : undefined;
};

/**
 * What the end of a thread's log adds up to: back to the start of its last turn at least, and the prompts that have waited for longer.
 */
export const readState = async (
  store: ThreadStore,
  threadId: string,
  { maxHistoryLength, maxOpenBytes }: { maxHistoryLength: number; maxOpenBytes: number },
): Promise<ThreadState> => {
  const tail = await readLastTurns(store, threadId, maxOpenBytes);
  const first = tail[0]?.seq ?? 1;
  const state = new ThreadState(maxHistoryLength);
  const queuedSince = before(tail, "queuedSince");
  if (queuedSince !== undefined) {
    for await (const event of store.events(threadId, { afterSeq: queuedSince - 1, types: queueEvents })) {
      if (event.seq >= first) break;
      state.recall(event);
    }
  }
  const summarySeq = before(tail, "summarySeq");
  if (summarySeq !== undefined)
    for await (const event of store.events(threadId, { afterSeq: summarySeq - 1, limit: 1 }))
      state.recallSummary(event);
  for (const event of tail) state.apply(event);
  return state;
};
