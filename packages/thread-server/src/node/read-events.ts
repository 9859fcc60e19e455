import type { FileHandle } from "node:fs/promises";
import { type Event, EventSchema } from "@harnesskit/protocol/threads";
import { newlineCodec } from "@harnesskit/wire";
import { isWantedEvent, type ReadEventsOptions } from "../thread-store.ts";

/** A line longer than any that this store writes is no event. */
const codec = newlineCodec({ maxFrameBytes: 64 * 1024 * 1024, maxDepth: 256 });

const blockBytes = 64 * 1024;

/** An event as it was written, fields of later versions included. */
const isEvent = (value: unknown): value is Event => EventSchema.safeParse(value).success;

/** The events from a place in the file on. A last line without its end is no event yet. */
async function* readFrom(
  file: FileHandle,
  start: number,
  wanted: Pick<ReadEventsOptions, "types" | "checkpointEvery"> = {},
): AsyncGenerator<Event> {
  const decoder = codec.createDecoder();
  for (let position = start; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(blockBytes), 0, blockBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    for (const value of decoder.push(buffer.subarray(0, bytesRead))) {
      // Checked by its schema only if it is given.
      if (!isWantedEvent(Object(value), wanted)) continue;
      if (isEvent(value)) yield value;
    }
  }
}

/** How much is read at once where a line is looked for. */
const searchBytes = 16 * 1024;
const newline = 0x0a;

/** Close enough: from here on the lines are read one after the other. */
const closeBytes = 64 * 1024;

/** The first line that begins behind `from` and before `to` and has a number: where it begins, and the number. */
const nextNumbered = async (
  file: FileHandle,
  from: number,
  to: number,
): Promise<{ start: number; seq: number } | undefined> => {
  const block = Buffer.allocUnsafe(searchBytes);
  let position = from;
  while (position < to) {
    const { bytesRead } = await file.read(block, 0, searchBytes, position);
    if (bytesRead === 0) return undefined;
    const end = block.subarray(0, bytesRead).indexOf(newline);
    if (end === -1) {
      position += bytesRead;
      continue;
    }
    const start = position + end + 1;
    if (start >= to) return undefined;
    const head = await file.read(block, 0, 64, start);
    const [, seq] = /^\{"seq":(\d{1,15})[,}]/.exec(block.toString("latin1", 0, head.bytesRead)) ?? [];
    if (seq !== undefined) return { start, seq: Number(seq) };
    position = start;
  }
  return undefined;
};

/**
 * A place in the log at or before the event with this number, near it. Halves the file instead of reading it: the
 * numbers rise from line to line.
 */
const findSeq = async (file: FileHandle, seq: number): Promise<number> => {
  if (seq <= 1) return 0;
  let low = 0;
  let high = (await file.stat()).size;
  while (high - low > closeBytes) {
    const middle = Math.floor((low + high) / 2);
    const found = await nextNumbered(file, middle, high);
    if (!found || found.seq >= seq) high = middle;
    else low = found.start;
  }
  return low;
};

/**
 * Reads a log in order. A line that is no event is passed over, and so is one whose number does not rise: what follows
 * it still counts. Where to begin is found by halving, so that the length of the log does not matter.
 */
export async function* readEvents(
  file: FileHandle,
  { afterSeq = 0, limit = Number.POSITIVE_INFINITY, ...wanted }: ReadEventsOptions = {},
): AsyncGenerator<Event> {
  let left = limit;
  let last = afterSeq;
  if (left <= 0) return;
  for await (const event of readFrom(file, await findSeq(file, afterSeq + 1), wanted)) {
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
