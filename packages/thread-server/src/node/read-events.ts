import type { FileHandle } from "node:fs/promises";
import { JournalError, LineSplitter } from "@harnesskit/node-kit";
import { type Event, EventSchema } from "@harnesskit/protocol/threads";
import type { ReadEventsOptions } from "../thread-store.ts";

/** A line of this store has at most so many bytes. */
const maxLineBytes = 64 * 1024 * 1024;
/** How much is read at once: a short log in a small block, since many large ones make V8 collect everything often. */
const [firstBlockBytes, maxBlockBytes] = [2 * 1024, 64 * 1024];
const newline = 0x0a;

/** The lines from a place on where one begins, and where each begins. A last line without its end is not written yet. */
async function* linesFrom(file: FileHandle, from: number): AsyncGenerator<{ text: string; start: number }> {
  const splitter = new LineSplitter(maxLineBytes);
  let start = from;
  let blockBytes = firstBlockBytes;
  for (let position = from; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(blockBytes), 0, blockBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    blockBytes = Math.min(blockBytes * 4, maxBlockBytes);
    for (const { bytes, length } of splitter.push(buffer.subarray(0, bytesRead))) {
      yield { text: bytes?.toString("utf8") ?? "", start };
      start += length + 1;
    }
  }
}

/** Counted from 1. */
const lineNumberAt = async (file: FileHandle, place: number): Promise<number> => {
  let number = 1;
  for await (const { start } of linesFrom(file, 0)) {
    if (start >= place) break;
    number++;
  }
  return number;
};

const parseLine = (text: string): Event | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * The events from a place in the file on where a line begins, as they were written, fields of later versions included. Those that are
 * not wanted are checked for their number alone. Throws `journal_damaged` for a line that is not an event or does not have the next number.
 */
async function* readFrom(
  file: FileHandle,
  path: string,
  from: number,
  types?: ReadEventsOptions["types"],
): AsyncGenerator<Event> {
  let next = from === 0 ? 1 : undefined;
  for await (const { text, start } of linesFrom(file, from)) {
    const event = parseLine(text);
    const seq = event?.seq;
    const isNext = Number.isSafeInteger(seq) && seq === (next ?? seq);
    const isWanted = isNext && event !== undefined && types?.includes(event.type) !== false;
    if (!isNext || (isWanted && !EventSchema.safeParse(event).success)) {
      const line = await lineNumberAt(file, start);
      throw new JournalError("journal_damaged", path, `is damaged in line ${line}`, line);
    }
    next = (seq as number) + 1;
    if (isWanted) yield event;
  }
}

/** Reads a whole log, its events unseen. Throws as {@link readEvents}. */
export const checkLog = async (file: FileHandle, path: string): Promise<void> => {
  for await (const _ of readFrom(file, path, 0, []));
};

/** How much is read at once where a line is looked for. */
const searchBytes = 16 * 1024;

/** Close enough: from here on the lines are read one after the other. */
const closeBytes = 64 * 1024;

/** Where the first line begins at or behind a place; `end` where none does before about there. */
const lineStart = async (file: FileHandle, place: number, end: number): Promise<number> => {
  if (place <= 0) return 0;
  const block = Buffer.allocUnsafe(searchBytes);
  for (let position = place - 1; position < end; ) {
    const { bytesRead } = await file.read(block, 0, searchBytes, position);
    if (bytesRead === 0) break;
    const found = block.subarray(0, bytesRead).indexOf(newline);
    if (found !== -1) return position + found + 1;
    position += bytesRead;
  }
  return end;
};

/** The number of the line that begins there; undefined where it does not say it first. */
const seqAt = async (file: FileHandle, start: number): Promise<number | undefined> => {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(64), 0, 64, start);
  const [, seq] = /^\{"seq":(\d{1,15})[,}]/.exec(buffer.toString("latin1", 0, bytesRead)) ?? [];
  return seq === undefined ? undefined : Number(seq);
};

/**
 * A place in the log at or before the event with this number, near it. Halves the file instead of reading it: the
 * numbers rise from line to line.
 */
const findSeq = async (file: FileHandle, seq: number): Promise<number> => {
  if (seq <= 1) return 0;
  let low = 0;
  for (let high = (await file.stat()).size; high - low > closeBytes; ) {
    const middle = Math.floor((low + high) / 2);
    const start = await lineStart(file, middle, high);
    const found = start < high ? await seqAt(file, start) : undefined;
    if (found === undefined || found >= seq) high = middle;
    else low = start;
  }
  return low;
};

/**
 * Reads a log in order. Where to begin is found by halving, so that the length of the log does not matter. Throws `journal_damaged`
 * where it comes to a line that is not an event or does not have the next number.
 *
 * @param path names the log in an error
 */
export async function* readEvents(
  file: FileHandle,
  path: string,
  { afterSeq = 0, limit = Number.POSITIVE_INFINITY, types }: ReadEventsOptions = {},
): AsyncGenerator<Event> {
  let left = limit;
  if (left <= 0) return;
  for await (const event of readFrom(file, path, await findSeq(file, afterSeq + 1), types)) {
    if (event.seq <= afterSeq) continue;
    yield event;
    if (--left <= 0) return;
  }
}

/** The last events of a log, about `maxBytes` of them. Throws as {@link readEvents}. */
export const readLastEvents = async (file: FileHandle, path: string, maxBytes: number): Promise<Event[]> => {
  const { size } = await file.stat();
  for (let bytes = maxBytes; ; bytes *= 2) {
    const events: Event[] = [];
    for await (const event of readFrom(file, path, await lineStart(file, size - bytes, size)))
      events.push(event);
    if (events.length > 0 || bytes >= size) return events;
  }
};
