import type { Readable } from "node:stream";
import { callSafely, displayText } from "@harnesskit/wire";

/**
 * Where the lines of a child's standard error go: to this process's standard error, nowhere, or to a function,
 * which gets each line as the child wrote it, untrusted and without its end. What the function throws is ignored.
 */
export type StderrTarget = "inherit" | "ignore" | ((line: string) => void);

export interface StderrReaderOptions {
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
export class StderrReader {
  readonly #stream: Readable;
  readonly #options: StderrReaderOptions;
  readonly #decoder = new TextDecoder();
  #tail: Buffer = Buffer.alloc(0);
  #cut = false;
  #line = "";
  #done = false;

  constructor(stream: Readable, options: StderrReaderOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on("data", (chunk: Buffer) => this.#received(chunk));
    stream.on("error", () => {});
    stream.on("close", () => this.#finish());
  }

  get done(): boolean {
    return this.#done;
  }

  /** The last whole lines, safe to show. */
  get tail(): string {
    const { maxTailBytes } = this.#options;
    let text = this.#tail.toString("utf8").replaceAll("\r\n", "\n").trimEnd();
    const firstEnd = text.indexOf("\n");
    if (this.#cut && firstEnd !== -1) text = text.slice(firstEnd + 1);
    const safe = displayText(text, { multiline: true });
    return safe.length > maxTailBytes ? `…${safe.slice(1 - maxTailBytes)}` : safe;
  }

  /** Stops reading. */
  destroy(): void {
    this.#stream.destroy();
    this.#finish();
  }

  #received(chunk: Buffer): void {
    const { maxTailBytes, target } = this.#options;
    const all = Buffer.concat([this.#tail, chunk]);
    this.#cut ||= all.length > maxTailBytes;
    this.#tail = Buffer.from(all.subarray(Math.max(0, all.length - maxTailBytes)));
    if (target === "inherit") {
      if (process.stderr.writableLength < maxForwardedBytes) process.stderr.write(chunk);
    } else if (target !== "ignore") {
      this.#splitLines(this.#decoder.decode(chunk, { stream: true }), target);
    }
  }

  #splitLines(text: string, target: (line: string) => void): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#tellLine(line, target);
    while (this.#line.length > maxLineLength) {
      this.#tellLine(this.#line.slice(0, maxLineLength), target);
      this.#line = this.#line.slice(maxLineLength);
    }
  }

  #tellLine(line: string, target: (line: string) => void): void {
    const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
    for (let start = 0; start === 0 || start < whole.length; start += maxLineLength) {
      // The child's output is read on, whatever its listener does.
      callSafely(() => target(whole.slice(start, start + maxLineLength)));
    }
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    const { target, onDone } = this.#options;
    if (this.#line.length > 0 && typeof target === "function") this.#tellLine(this.#line, target);
    onDone();
  }
}
