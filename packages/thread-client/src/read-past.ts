import type { Event } from "@harnesskit/protocol/threads";
import { ProtocolError } from "@harnesskit/wire";
import type { ThreadHistory } from "./validation.ts";

const largestPage = 500;

/** The server says that so many events do not fit in a message. */
const isPageTooLarge = (error: unknown): boolean => {
  if (!ProtocolError.isInstance(error)) return false;
  const { data } = error;
  return typeof data === "object" && data !== null && "reason" in data && data.reason === "result_too_large";
};

/** Reads the events after one number and up to another one, in pages that fit. */
export async function* readPast(
  readPage: (afterSeq: number, limit: number) => Promise<ThreadHistory>,
  afterSeq: number,
  toSeq: number,
): AsyncGenerator<Event, void> {
  let after = afterSeq;
  let limit = largestPage;
  while (after < toSeq) {
    let page: ThreadHistory;
    try {
      page = await readPage(after, Math.min(limit, toSeq - after));
    } catch (error) {
      if (limit === 1 || !isPageTooLarge(error)) throw error;
      limit = Math.max(1, Math.floor(limit / 4));
      continue;
    }
    for (const event of page.events) if (event.seq > after && event.seq <= toSeq) yield event;
    if (page.lastSeq <= after) return;
    after = page.lastSeq;
  }
}
