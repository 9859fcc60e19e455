import type { FileHandle } from "node:fs/promises";
import { type Event, EventSchema } from "@harnesskit/protocol/threads";
import { newlineCodec } from "@harnesskit/wire";
import type { ReadEventsOptions } from "../thread-store.ts";
import { findSeq } from "./find-seq.ts";

/** A line longer than any that this store writes is no event. */
const codec = newlineCodec({ maxFrameBytes: 64 * 1024 * 1024, maxDepth: 256 });

const blockBytes = 64 * 1024;

/** An event as it was written, fields of later versions included. */
const isEvent = (value: unknown): value is Event => EventSchema.safeParse(value).success;

/** The events from a place in the file on. A last line without its end is no event yet. */
async function* readFrom(file: FileHandle, start: number): AsyncGenerator<Event> {
  const decoder = codec.createDecoder();
  for (let position = start; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(blockBytes), 0, blockBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    for (const value of decoder.push(buffer.subarray(0, bytesRead))) if (isEvent(value)) yield value;
  }
}

/**
 * Reads a log in order. A line that is no event is passed over, and so is one whose number does not rise: what follows
 * it still counts. Where to begin is found by halving, so that the length of the log does not matter.
 */
export async function* readEvents(
  file: FileHandle,
  { afterSeq = 0, limit = Number.POSITIVE_INFINITY }: ReadEventsOptions = {},
): AsyncGenerator<Event> {
  let left = limit;
  let last = afterSeq;
  if (left <= 0) return;
  for await (const event of readFrom(file, await findSeq(file, afterSeq + 1))) {
    if (event.seq <= last) continue;
    last = event.seq;
    yield event;
    if (--left <= 0) return;
  }
}

/** The last events of a log, about `maxBytes` of them. */
export const readLastEvents = async (file: FileHandle, maxBytes: number): Promise<Event[]> => {
  const { size } = await file.stat();
  for (let bytes = maxBytes; ; bytes *= 2) {
    const events: Event[] = [];
    let last = 0;
    // Begun in the middle of a line, the rest of that line is no event and is passed over.
    for await (const event of readFrom(file, Math.max(0, size - bytes))) {
      if (event.seq <= last) continue;
      last = event.seq;
      events.push(event);
    }
    if (events.length > 0 || bytes >= size) return events;
  }
};
