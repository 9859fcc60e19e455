import type { Readable } from "node:stream";
import { OutputLines } from "@harnesskit/node-kit";

/**
 * Where the lines of a child's standard error go: to this process's standard error, nowhere, or to a function,
 * which gets each line as the child wrote it, untrusted and without its end. What the function throws is ignored.
 */
export type StderrTarget = "inherit" | "ignore" | ((line: string) => void);

export interface StderrOptions {
  readonly target: StderrTarget;
  /** Bytes of the end that are kept. */
  readonly maxTailBytes: number;
  /** Called once, when there is no more. */
  readonly onDone: () => void;
}

/** A line longer than this comes in parts. */
const maxLineLength = 8192;
/** What may wait for a slow reader of this process's standard error; beyond that, output of children is dropped. */
const maxForwardedBytes = 1024 * 1024;

/** Reads a child's standard error to its end, however much it is, and keeps the last of it. */
export const readStderr = (
  stream: Readable,
  { target, maxTailBytes, onDone }: StderrOptions,
): OutputLines => {
  if (target === "inherit") {
    stream.on("data", (chunk: Buffer) => {
      if (process.stderr.writableLength < maxForwardedBytes) process.stderr.write(chunk);
    });
  }
  const onLine = typeof target === "function" ? target : undefined;
  return new OutputLines(stream, { maxLineLength, maxTailBytes, onLine, onDone });
};
