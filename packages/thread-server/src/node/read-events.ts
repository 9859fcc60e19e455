import { createReadStream } from "node:fs";
import { type Event, EventSchema } from "@harnesskit/protocol/threads";
import { newlineCodec } from "@harnesskit/wire";
import type { ReadEventsOptions } from "../thread-store.ts";

/** A line longer than any that this store writes is no event. */
const codec = newlineCodec({ maxFrameBytes: 64 * 1024 * 1024, maxDepth: 256 });

/** An event as it was written, fields of later versions included. */
const isEvent = (value: unknown): value is Event => EventSchema.safeParse(value).success;

/**
 * Reads a log in order. A line that is no event is passed over, and so is one whose number does not rise: what follows
 * it still counts.
 */
export async function* readEvents(
  path: string,
  { afterSeq = 0, limit }: ReadEventsOptions = {},
): AsyncGenerator<Event> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let last = afterSeq;
  const decoder = codec.createDecoder();
  const stream = createReadStream(path);
  try {
    for await (const chunk of stream) {
      for (const value of decoder.push(chunk)) {
        if (!isEvent(value) || value.seq <= last) continue;
        if (left-- <= 0) return;
        last = value.seq;
        yield value;
      }
    }
  } finally {
    stream.destroy();
  }
}
