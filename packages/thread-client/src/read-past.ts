import type { Event } from "@harnesskit/protocol/threads";
import { ProtocolError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { ThreadHistory } from "./validation.ts";

const largestPage = 500;

/** The number of the event that alone exceeds a page of the server, where that is why reading failed. */
export const tooLargeSeq = (error: unknown): number | undefined => {
  const data = ProtocolError.isInstance(error) ? error.data : undefined;
  const { reason, seq } = isObject(data) ? data : {};
  return reason === "event_too_large" && Number.isSafeInteger(seq) ? (seq as number) : undefined;
};

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
