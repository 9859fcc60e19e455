/** A line of a log without its newline. */
export interface RawLine {
  /** The first `maxLineBytes` of a longer one. */
  readonly bytes: Uint8Array;
  readonly isTooLong: boolean;
  /** False for the last line of a source that does not end with a newline. */
  readonly isWhole: boolean;
}

const newline = 0x0a;

/** A log as chunks of any size. Chunks of bytes are not copied: their buffers must not be used again. */
export type LogSource = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

const join = (parts: readonly Uint8Array[], length: number): Uint8Array => {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};

/** Cuts chunks of a log into lines; holds at most one line and one chunk. */
export async function* splitLines(source: LogSource, maxLineBytes: number): AsyncGenerator<RawLine> {
  const encoder = new TextEncoder();
  let parts: Uint8Array[] = [];
  let length = 0;
  let isTooLong = false;
  const keep = (part: Uint8Array): void => {
    const room = maxLineBytes - length;
    if (part.length > room) isTooLong = true;
    if (room <= 0 || part.length === 0) return;
    parts.push(part.length > room ? part.subarray(0, room) : part);
    length += Math.min(room, part.length);
  };
  const take = (isWhole: boolean): RawLine => {
    const line = { bytes: join(parts, length), isTooLong, isWhole };
    parts = [];
    length = 0;
    isTooLong = false;
    return line;
  };
  for await (const chunk of source) {
    const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
    let from = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, from)) {
      keep(bytes.subarray(from, end));
      yield take(true);
      from = end + 1;
    }
    if (from < bytes.length) keep(bytes.subarray(from));
  }
  if (length > 0) yield take(false);
}
