import type { Event, Thread } from "@harnesskit/protocol/threads";
import { ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { ThreadHistory } from "./call-thread-server.ts";
import type { ThreadPage } from "./thread-options.ts";

/** As many events or threads as a page may have: the server ends it where a message is full. */
export const wholePage = 1_000_000;

/** The number of the event that alone exceeds a page of the server, where that is why reading failed. */
const tooLargeSeq = (error: unknown): number | undefined => {
  const data = ProtocolError.isInstance(error) ? error.data : undefined;
  const { reason, seq } = isObject(data) ? data : {};
  return reason === "event_too_large" && Number.isSafeInteger(seq) ? (seq as number) : undefined;
};

/** Reads the next page. An event that exceeds a page of the server is left out, and `onTooLarge` gets the refusal. */
const readNextPage = async <Page>(
  readPage: (afterSeq: number, limit: number) => Promise<Page>,
  afterSeq: number,
  limit: number,
  onTooLarge: (error: ProtocolError) => void,
): Promise<Page> => {
  for (let after = afterSeq; ; ) {
    try {
      return await readPage(after, limit);
    } catch (error) {
      const seq = tooLargeSeq(error);
      if (seq === undefined || seq <= after) throw error;
      onTooLarge(error as ProtocolError);
      after = seq;
    }
  }
};

interface HistoryRange {
  /** @default 0 */
  readonly afterSeq: number | undefined;
  /** @default all */
  readonly limit: number | undefined;
  readonly maxPages: number;
  readonly onTooLarge: (error: ProtocolError) => void;
}

/** Reads the events after `afterSeq`, `limit` of them at most, in up to `maxPages` pages. */
export const readHistory = async (
  readPage: (afterSeq: number, limit: number) => Promise<ThreadHistory>,
  { afterSeq = 0, limit = wholePage, maxPages, onTooLarge }: HistoryRange,
): Promise<ThreadHistory> => {
  const events: Event[] = [];
  let unknownEvents = 0;
  let after = afterSeq;
  for (let pages = 1; ; pages++) {
    const left = limit - events.length - unknownEvents;
    const page = await readNextPage(readPage, after, left, onTooLarge);
    for (const event of page.events) events.push(event);
    unknownEvents += page.unknownEvents;
    const { nextAfterSeq } = page;
    const isEnd = nextAfterSeq === undefined || nextAfterSeq <= after;
    if (isEnd || events.length + unknownEvents >= limit || pages === maxPages)
      return { ...page, events, unknownEvents };
    after = nextAfterSeq;
  }
};

/** Reads the threads from `cursor` on, in up to `maxPages` pages. */
export const readThreads = async (
  readPage: (cursor: string | undefined) => Promise<ThreadPage>,
  cursor: string | undefined,
  maxPages: number,
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

/** Reads the events after one number and up to another one, page by page. */
export async function* readPast(
  readPage: (afterSeq: number, limit: number) => Promise<Pick<ThreadHistory, "events" | "lastSeq">>,
  afterSeq: number,
  toSeq: number,
  onTooLarge: (error: ProtocolError) => void = () => {},
): AsyncGenerator<Event, void> {
  for (let after = afterSeq; after < toSeq; ) {
    const page = await readNextPage(readPage, after, Math.min(largestPage, toSeq - after), onTooLarge);
    for (const event of page.events) if (event.seq > after && event.seq <= toSeq) yield event;
    if (page.lastSeq <= after) return;
    after = page.lastSeq;
  }
}
