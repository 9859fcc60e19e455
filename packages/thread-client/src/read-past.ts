import type { Event } from "@harnesskit/protocol/threads";
import type { ThreadHistory } from "./validation.ts";

const largestPage = 500;

/** Reads the events after one number and up to another one, page by page. */
export async function* readPast(
  readPage: (afterSeq: number, limit: number) => Promise<ThreadHistory>,
  afterSeq: number,
  toSeq: number,
): AsyncGenerator<Event, void> {
  let after = afterSeq;
  while (after < toSeq) {
    const page = await readPage(after, Math.min(largestPage, toSeq - after));
    for (const event of page.events) if (event.seq > after && event.seq <= toSeq) yield event;
    if (page.lastSeq <= after) return;
    after = page.lastSeq;
  }
}
