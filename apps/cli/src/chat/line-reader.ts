import { createInterface, type Interface } from "node:readline";
import { createDeferred, type Deferred } from "@harnesskit/wire";

/** Lines that wait to be taken; then no more are read. */
const maxLines = 1_000;

/** The lines of standard input, one at a time, with a prompt where it is a terminal. */
export class LineReader {
  readonly isTerminal: boolean;
  readonly #reader: Interface;
  readonly #lines: string[] = [];
  #waiting: Deferred<string | undefined> | undefined;
  #hasEnded = false;

  /** @param onInterrupt called for Ctrl-C in a terminal */
  constructor(onInterrupt: () => void, input = process.stdin, output = process.stdout) {
    this.isTerminal = input.isTTY === true && output.isTTY === true;
    this.#reader = createInterface({
      input,
      terminal: this.isTerminal,
      prompt: "› ",
      ...(this.isTerminal && { output }),
    });
    this.#reader.on("line", (line) => this.#take(line));
    this.#reader.on("SIGINT", onInterrupt);
    this.#reader.on("close", () => {
      this.#hasEnded = true;
      if (this.#lines.length === 0) this.#waiting?.resolve(undefined);
    });
  }

  #take(line: string): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting.resolve(line);
      return;
    }
    this.#lines.push(line);
    if (this.#lines.length >= maxLines && !this.#hasEnded) this.#reader.pause();
  }

  /** The next line; undefined at the end of the input. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#hasEnded) return Promise.resolve(undefined);
    this.#reader.resume();
    if (this.isTerminal) this.#reader.prompt();
    this.#waiting = createDeferred();
    return this.#waiting.promise;
  }

  /** Takes no more lines; those that were read and not taken are dropped. */
  close(): void {
    this.#lines.length = 0;
    this.#reader.close();
  }
}
