import type { Event, EventName, Thread } from "@harnesskit/protocol/threads";
import { readLastTurns } from "./read-log.ts";
import { ThreadState } from "./thread-state.ts";
import type { ThreadStore } from "./thread-store.ts";

const queueEvents: readonly EventName[] = ["turn.queued", "turn.dequeued", "turn.started"];

/** Where the events begin that say what waits at the end of a log, if they begin before these. */
const queuedBefore = (tail: readonly Event[]): number | undefined => {
  const started = tail.find((event) => event.type === "turn.started");
  const since = started?.type === "turn.started" ? started.data.queuedSince : undefined;
  return since !== undefined && since < (tail[0]?.seq ?? 1) ? since : undefined;
};

/** The event of the summary that is the last one at the end of a log, if it comes before these. */
const summaryBefore = (tail: readonly Event[]): number | undefined => {
  const started = tail.find((event) => event.type === "turn.started");
  const seq = started?.type === "turn.started" ? started.data.summarySeq : undefined;
  return seq !== undefined && seq < (tail[0]?.seq ?? 1) ? seq : undefined;
};

/**
 * What the end of a thread's log adds up to: back to the start of its last turn at least, and the prompts that have waited for longer.
 */
export const readState = async (
  store: ThreadStore,
  { threadId, queued = 0 }: Thread,
  { maxHistoryLength, maxOpenBytes }: { maxHistoryLength: number; maxOpenBytes: number },
): Promise<ThreadState> => {
  const tail = await readLastTurns(store, threadId, maxOpenBytes);
  const first = tail[0]?.seq ?? 1;
  const fold = async (since: number) => {
    const state = new ThreadState(maxHistoryLength);
    if (since < first) {
      const options = { afterSeq: since - 1, types: queueEvents };
      for await (const event of store.events(threadId, options)) {
        if (event.seq >= first) break;
        state.recall(event);
      }
    }
    const summarySeq = summaryBefore(tail);
    if (summarySeq !== undefined)
      for await (const event of store.events(threadId, { afterSeq: summarySeq - 1, limit: 1 }))
        state.recallSummary(event);
    for (const event of tail) state.apply(event);
    return state;
  };
  const state = await fold(queuedBefore(tail) ?? first);
  // A server without the extension began turns in between: then all of the log is looked at.
  return state.queued.size < queued ? fold(1) : state;
};
