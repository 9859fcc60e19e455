import { createInterface, type Interface, type Key } from "node:readline";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { io } from "../io.ts";
import { bracketedPaste } from "./choose.ts";
import type { Completion } from "./complete-line.ts";
import type { LineHistory } from "./line-history.ts";

const maxLines = 1_000;
const prompt = "› ";
const furtherPrompt = "… ";

export interface LineReaderOptions {
  /** Called for Ctrl-C in a terminal where no text is typed. */
  readonly onInterrupt: () => void;
  /** What the arrow keys bring back. @default what was typed since it was made */
  readonly history?: LineHistory | undefined;
  /** What Tab completes. @default nothing */
  readonly complete?: ((line: string) => Promise<Completion>) | undefined;
}

/**
 * The messages of standard input, one at a time: its lines, or at a terminal what is sent with Enter. There a message has several lines
 * where they are pasted, end with a backslash, or with Alt+Enter.
 */
export class LineReader {
  readonly isTerminal: boolean;
  readonly #reader: Interface;
  readonly #options: LineReaderOptions;
  readonly #messages: string[] = [];
  /** The lines of the message that is written, but for the last. */
  readonly #begun: string[] = [];
  #isPasting = false;
  #isContinued = false;
  #waiting: Deferred<string | undefined> | undefined;
  #hasEnded = false;

  constructor(options: LineReaderOptions) {
    const { stdin: input, stdout: output } = io();
    this.#options = options;
    this.isTerminal = input.isTTY === true && output.isTTY === true;
    const { history, complete } = options;
    this.#reader = createInterface({
      input,
      terminal: this.isTerminal,
      prompt,
      output: this.isTerminal ? output : undefined,
      ...(history && { history: [...history.lines], removeHistoryDuplicates: true }),
      ...(complete && {
        completer: (line: string, done: (error: null, found: Completion) => void) =>
          void complete(line).then((found) => done(null, found)),
      }),
    });
    this.#reader.on("line", (line) => (this.isTerminal ? this.#typed(line) : this.#take(line)));
    this.#reader.on("SIGINT", this.#interrupted);
    this.#reader.on("close", this.#ended);
    if (!this.isTerminal) return;
    // Before the interface, which ends a line at Enter.
    input.prependListener("keypress", this.#onKey);
    if (io().env.TERM !== "dumb") output.write(bracketedPaste.on);
  }

  readonly #onKey = (_: unknown, key: Key | undefined): void => {
    if (key?.name === "paste-start") this.#isPasting = true;
    if (key?.name === "paste-end") this.#isPasting = false;
    if (key?.name !== "return" || key.meta !== true) return;
    this.#isContinued = true;
    this.#reader.write(null as unknown as string, { name: "return" });
    this.#isContinued = false;
  };

  #typed(line: string): void {
    const continues = /(?:^|[^\\])\\$/.test(line);
    this.#options.history?.add(line);
    if (this.#isPasting || this.#isContinued || continues) {
      this.#begun.push(continues && !this.#isPasting ? line.slice(0, -1) : line);
      this.#reader.setPrompt(furtherPrompt);
      this.#reader.prompt();
      return;
    }
    this.#take([...this.#begun.splice(0), line].join("\n"));
  }

  readonly #interrupted = (): void => {
    const isTyped = this.#reader.line !== "" || this.#begun.length > 0;
    if (this.#waiting === undefined || !isTyped) {
      this.#options.onInterrupt();
      return;
    }
    this.#begun.length = 0;
    this.#reader.write(null as unknown as string, { ctrl: true, name: "e" });
    this.#reader.write(null as unknown as string, { ctrl: true, name: "u" });
    io().stdout.write("\n");
    this.#ask();
  };

  readonly #ended = (): void => {
    this.#hasEnded = true;
    if (this.isTerminal) {
      io().stdin.off("keypress", this.#onKey);
      if (io().env.TERM !== "dumb") io().stdout.write(bracketedPaste.off);
    }
    if (this.#messages.length === 0) this.#waiting?.resolve(undefined);
  };

  #take(message: string): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting.resolve(message);
      return;
    }
    this.#messages.push(message);
    if (this.#messages.length >= maxLines && !this.#hasEnded) this.#reader.pause();
  }

  #ask(): void {
    this.#reader.setPrompt(prompt);
    this.#reader.prompt();
  }

  /** The next message; undefined at the end of the input. */
  next(): Promise<string | undefined> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    if (this.#hasEnded) return Promise.resolve(undefined);
    this.#reader.resume();
    if (this.isTerminal) this.#ask();
    this.#waiting = createDeferred();
    return this.#waiting.promise;
  }

  close(): void {
    this.#messages.length = 0;
    this.#reader.close();
  }
}
