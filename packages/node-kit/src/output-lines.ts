import type { Readable } from "node:stream";
import { callSafely, displayText } from "@harnesskit/wire";

export interface OutputLinesOptions {
  /** Characters of one line; a longer one comes in parts. */
  readonly maxLineLength: number;
  /** Bytes of the end that are kept. */
  readonly maxTailBytes: number;
  /** Gets each line as it was written, untrusted and without its end. What it throws is ignored. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Called once, when there is no more. */
  readonly onDone?: (() => void) | undefined;
}

/** Reads one output of a process to its end, however much it is: reports its lines, and keeps the last of it. */
export class OutputLines {
  readonly #stream: Readable;
  readonly #options: OutputLinesOptions;
  readonly #decoder = new TextDecoder();
  #tail: Buffer = Buffer.alloc(0);
  #cut = false;
  #line = "";
  #done = false;

  constructor(stream: Readable, options: OutputLinesOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on("data", (chunk: Buffer) => this.#received(chunk));
    stream.on("error", () => {});
    stream.on("close", () => this.#finish());
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** The last whole lines, with everything invisible or misleading written out. */
  get tail(): string {
    const { maxTailBytes } = this.#options;
    let text = this.#tail.toString("utf8").replaceAll("\r\n", "\n").trimEnd();
    const firstEnd = text.indexOf("\n");
    if (this.#cut && firstEnd !== -1) text = text.slice(firstEnd + 1);
    const safe = displayText(text, { multiline: true });
    return safe.length > maxTailBytes ? `…${safe.slice(1 - maxTailBytes)}` : safe;
  }

  /** Stops reading: what is not read by now is lost. */
  destroy(): void {
    this.#stream.destroy();
    this.#finish();
  }

  #received(chunk: Buffer): void {
    const { maxTailBytes, onLine } = this.#options;
    this.#cut ||= this.#tail.length + chunk.length > maxTailBytes;
    const all = chunk.length >= maxTailBytes ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#tail = Buffer.from(all.subarray(Math.max(0, all.length - maxTailBytes)));
    if (onLine) this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  #split(text: string): void {
    const { maxLineLength } = this.#options;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#report(line);
    while (this.#line.length > maxLineLength) {
      this.#report(this.#line.slice(0, maxLineLength));
      this.#line = this.#line.slice(maxLineLength);
    }
  }

  #report(line: string): void {
    const { maxLineLength, onLine } = this.#options;
    const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
    for (let start = 0; start === 0 || start < whole.length; start += maxLineLength) {
      // The output is read on, whatever its listener does.
      callSafely(() => onLine?.(whole.slice(start, start + maxLineLength)));
    }
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    if (this.#line.length > 0) this.#report(this.#line);
    this.#line = "";
    this.#options.onDone?.();
  }
}
