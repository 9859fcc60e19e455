import type { Framing } from "../../src/scenario/suite-schema.ts";

const maxFrameBytes = 5_000_000;

/** Cuts bytes into frames. What is no frame passes as it is, and so does everything behind it. */
export interface Cutter {
  push(chunk: Buffer): Buffer[];
  /** Takes the beginning of a frame whose end does not come. */
  flush(): Buffer;
}

export const createCutter = (framing: Framing): Cutter => {
  let rest: Buffer = Buffer.alloc(0);
  let isRaw = framing === "post" || framing === "text";
  const sizeOf = (): number => {
    if (framing === "newline") return rest.indexOf(10) + 1;
    if (rest.length < 4) return 0;
    const size = rest.readUInt32BE() + 4;
    isRaw = size > maxFrameBytes;
    return size <= rest.length ? size : 0;
  };
  const push = (chunk: Buffer): Buffer[] => {
    if (isRaw) return [chunk];
    rest = Buffer.concat([rest, chunk]);
    const frames: Buffer[] = [];
    for (let size = sizeOf(); size > 0 && !isRaw; size = sizeOf()) {
      frames.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    if (!isRaw && (framing !== "newline" || rest.length < maxFrameBytes)) return frames;
    return [...frames, flush()];
  };
  const flush = (): Buffer => {
    const taken = rest;
    isRaw ||= taken.length > 0;
    rest = Buffer.alloc(0);
    return taken;
  };
  return { push, flush };
};

/** The message or the batch in a frame; undefined for what is none in JSON. */
export const messageIn = (frame: Buffer, framing: Framing): unknown => {
  const text = (framing === "newline" ? frame : frame.subarray(4)).toString("utf8");
  // Megabytes of brackets take half a second to read.
  if (!/^\s*(?:\{|\[(?!\s*\[))/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A message as a frame. */
export const frameOf = (message: unknown, framing: Framing): Buffer => {
  const text = Buffer.from(JSON.stringify(message));
  if (framing === "newline") return Buffer.concat([text, Buffer.from("\n")]);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(text.length);
  return Buffer.concat([header, text]);
};
