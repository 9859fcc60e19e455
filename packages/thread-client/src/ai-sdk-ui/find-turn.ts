import type { Event } from "@harnesskit/protocol/threads";
import { HarnessError } from "@harnesskit/wire";
import type { ThreadClient } from "../client-options.ts";
import { readPast } from "../read-pages.ts";

/** A turn, and where it begins in its thread's log. */
export interface FoundTurn {
  readonly turnId: string;
  readonly startSeq: number;
}

type Log = Pick<ThreadClient, "getThread" | "subscribe">;

const smallestWindow = 64;
const largestWindow = 512;

/** The number of the last event of a thread. */
export const readLastSeq = async (client: Log, threadId: string): Promise<number> => {
  const subscription = await client.subscribe(threadId);
  subscription.close();
  return subscription.lastSeq;
};

/** The events after `afterSeq` and up to `toSeq`, without those that exceed a page of the server. */
export const readForwards = (
  client: Log,
  threadId: string,
  afterSeq: number,
  toSeq: number,
): AsyncGenerator<Event, void> =>
  readPast((after, limit) => client.getThread(threadId, { afterSeq: after, limit }), afterSeq, toSeq);

/** The events up to `toSeq`, the latest first. */
async function* readBackwards(client: Log, threadId: string, toSeq: number): AsyncGenerator<Event, void> {
  let to = toSeq;
  for (let window = smallestWindow; to > 0; window = Math.min(2 * window, largestWindow)) {
    const from = Math.max(0, to - window);
    const events: Event[] = [];
    for await (const event of readForwards(client, threadId, from, to)) events.push(event);
    yield* events.reverse();
    to = from;
  }
}

/** The turn that runs, if one does. It reads back to the last turn's beginning or end. */
export const findRunningTurn = async (client: Log, threadId: string): Promise<FoundTurn | undefined> => {
  const lastSeq = await readLastSeq(client, threadId);
  for await (const { type, data, seq } of readBackwards(client, threadId, lastSeq)) {
    if (type === "turn.started") return { turnId: data.turnId, startSeq: seq };
    if (type === "turn.completed" || type === "turn.error") return undefined;
  }
  return undefined;
};

/** Where a turn begins: behind `lastSeq`, the last number before it was asked for, unless it had been started before. */
export const findTurnStart = async (
  client: Log,
  threadId: string,
  { turnId, lastSeq }: { readonly turnId: string; readonly lastSeq: number },
): Promise<FoundTurn> => {
  const isStart = ({ type, data }: Event) => type === "turn.started" && data.turnId === turnId;
  for await (const event of readForwards(client, threadId, lastSeq, lastSeq + smallestWindow)) {
    if (isStart(event)) return { turnId, startSeq: event.seq };
  }
  for await (const event of readBackwards(client, threadId, lastSeq)) {
    if (isStart(event)) return { turnId, startSeq: event.seq };
  }
  throw new HarnessError("turn_not_found", "the turn is not in the log of its thread");
};
