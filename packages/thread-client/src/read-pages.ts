import type { Event } from "@harnesskit/protocol/threads";
import { ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { ThreadHistory } from "./call-thread-server.ts";

/** As many events or threads as a page may have: the server ends it where a message is full. */
export const wholePage = 1_000_000;

type ReadPage = (afterSeq: number, limit: number) => Promise<ThreadHistory>;

export interface HistoryRange {
  /** The events after this number. @default 0 */
  readonly afterSeq?: number | undefined;
  /** At most so many. @default all */
  readonly limit?: number | undefined;
  /** Receives the refusal of an event that exceeds a page of the server, and is left out. */
  readonly onTooLarge: (error: ProtocolError) => void;
}

/** The number of the event that alone exceeds a page of the server, where that is why reading failed. */
const tooLargeSeq = (error: unknown): number | undefined => {
  const data = ProtocolError.isInstance(error) ? error.data : undefined;
  const { reason, seq } = isObject(data) ? data : {};
  return reason === "event_too_large" && Number.isSafeInteger(seq) ? (seq as number) : undefined;
};

/** The pages after a number, each of at most as many events as `limitAfter` says, as long as any come. */
async function* readPages(
  readPage: ReadPage,
  afterSeq: number,
  limitAfter: (seq: number) => number,
  onTooLarge: HistoryRange["onTooLarge"],
): AsyncGenerator<ThreadHistory, void> {
  for (let after = afterSeq; ; ) {
    const page = await readPage(after, limitAfter(after)).catch((error: unknown) => {
      const seq = tooLargeSeq(error);
      if (seq === undefined || seq <= after) throw error;
      onTooLarge(error as ProtocolError);
      after = seq;
    });
    if (!page) continue;
    yield page;
    const next = page.nextAfterSeq ?? page.lastSeq;
    if (next <= after) return;
    after = next;
  }
}

/** Reads a part of a history in up to `maxPages` pages. */
export const readHistory = async (
  readPage: ReadPage,
  { afterSeq = 0, limit = wholePage, maxPages, onTooLarge }: HistoryRange & { readonly maxPages: number },
): Promise<ThreadHistory> => {
  const events: Event[] = [];
  let last: ThreadHistory | undefined;
  let pages = 0;
  for await (const page of readPages(readPage, afterSeq, () => limit - events.length, onTooLarge)) {
    for (const event of page.events) events.push(event);
    last = page;
    if (page.nextAfterSeq === undefined || events.length >= limit || ++pages === maxPages) break;
  }
  return { ...(last as ThreadHistory), events };
};

const largestPage = 500;

/** Reads the events after one number and up to another one, page by page. */
export async function* readPast(
  readPage: ReadPage,
  afterSeq: number,
  toSeq: number,
  onTooLarge: HistoryRange["onTooLarge"] = () => {},
): AsyncGenerator<Event, void> {
  if (afterSeq >= toSeq) return;
  // A server that says something again is not heard again.
  let last = afterSeq;
  const limitAfter = (seq: number) => Math.min(largestPage, Math.max(1, toSeq - seq));
  for await (const page of readPages(readPage, afterSeq, limitAfter, onTooLarge)) {
    for (const event of page.events) {
      if (event.seq <= last || event.seq > toSeq) continue;
      last = event.seq;
      yield event;
    }
    if (page.lastSeq >= toSeq) return;
  }
}
