import type { Event, Thread } from "@harnesskit/protocol/threads";
import { type HarnessError, ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { ThreadPage } from "./thread-options.ts";
import type { ThreadHistory } from "./validation.ts";

/** As many events or threads as a page may have: the server ends it where a message is full. */
export const wholePage = 1_000_000;

/** The number of the event that alone exceeds a page of the server, where that is why reading failed. */
const tooLargeSeq = (error: unknown): number | undefined => {
  const data = ProtocolError.isInstance(error) ? error.data : undefined;
  const { reason, seq } = isObject(data) ? data : {};
  return reason === "event_too_large" && Number.isSafeInteger(seq) ? (seq as number) : undefined;
};

interface HistoryRange {
  /** @default 0 */
  readonly afterSeq: number | undefined;
  /** @default all */
  readonly limit: number | undefined;
  readonly maxPages: number;
  /** Receives the refusal of an event that exceeds a page of the server: it is left out. */
  readonly onTooLarge: (error: HarnessError) => void;
}

/** Reads the events after `afterSeq`, `limit` of them at most, in up to `maxPages` pages. */
export const readHistory = async (
  readPage: (afterSeq: number, limit: number) => Promise<ThreadHistory>,
  { afterSeq = 0, limit = wholePage, maxPages, onTooLarge }: HistoryRange,
): Promise<ThreadHistory> => {
  const events: Event[] = [];
  let unknownEvents = 0;
  let read = 0;
  let after = afterSeq;
  for (let pages = 1; ; pages++) {
    let page: ThreadHistory;
    try {
      page = await readPage(after, limit - read);
    } catch (error) {
      const seq = tooLargeSeq(error);
      if (seq === undefined || seq <= after || pages === maxPages) throw error;
      onTooLarge(error as HarnessError);
      after = seq;
      continue;
    }
    for (const event of page.events) events.push(event);
    unknownEvents += page.unknownEvents;
    read += page.events.length + page.unknownEvents;
    const { nextAfterSeq } = page;
    const isEnd = nextAfterSeq === undefined || nextAfterSeq <= after;
    if (isEnd || read >= limit || pages === maxPages) return { ...page, events, unknownEvents };
    after = nextAfterSeq;
  }
};

/** Reads the threads from `cursor` on, in up to `maxPages` pages. */
export const readThreads = async (
  readPage: (cursor: string | undefined) => Promise<ThreadPage>,
  { cursor, maxPages }: { cursor: string | undefined; maxPages: number },
): Promise<ThreadPage> => {
  const threads: Thread[] = [];
  let next = cursor;
  for (let pages = 1; ; pages++) {
    const page = await readPage(next);
    for (const thread of page.threads) threads.push(thread);
    next = page.nextCursor;
    if (next === undefined || pages === maxPages) return { ...page, threads };
  }
};

const largestPage = 500;

/**
 * Reads the events after one number and up to another one, page by page. An event that exceeds a page of the server is left out, and
 * `onTooLarge` gets the refusal.
 */
export async function* readPast(
  readPage: (afterSeq: number, limit: number) => Promise<Pick<ThreadHistory, "events" | "lastSeq">>,
  afterSeq: number,
  toSeq: number,
  onTooLarge: (error: ProtocolError) => void = () => {},
): AsyncGenerator<Event, void> {
  let after = afterSeq;
  let pageTo = toSeq;
  while (after < toSeq) {
    let page: Pick<ThreadHistory, "events" | "lastSeq">;
    try {
      page = await readPage(after, Math.min(largestPage, pageTo - after));
    } catch (error) {
      const seq = tooLargeSeq(error);
      if (seq === undefined || seq <= after || seq > pageTo) throw error;
      // What is before it comes first.
      pageTo = seq - 1;
      if (pageTo > after) continue;
      onTooLarge(error as ProtocolError);
      after = seq;
      pageTo = toSeq;
      continue;
    }
    for (const event of page.events) if (event.seq > after && event.seq <= toSeq) yield event;
    if (page.lastSeq <= after) return;
    after = page.lastSeq;
    if (after >= pageTo) pageTo = toSeq;
  }
}
