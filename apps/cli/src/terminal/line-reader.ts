import { createInterface, type Interface, type Key } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { createDeferred, type Deferred, displayText } from "@harnesskit/wire";
import { io } from "../io.ts";
import type { Completion } from "./complete-line.ts";
import { type KeyReader, keyboard } from "./keyboard.ts";
import { escapeCodeTimeout } from "./keys.ts";
import type { LineHistory } from "./line-history.ts";

const maxLines = 1_000;
const usualPrompt = "› ";
const furtherPrompt = "… ";
/** A line break in a message that is edited as one line. */
const lineBreak = "⏎";

const asOneLine = (message: string): string => message.replaceAll("\n", lineBreak);

export interface LineReaderOptions {
  /** Called for Ctrl-C in a terminal where no text is typed. */
  readonly onInterrupt: () => void;
  /** Called for Esc while no message is waited for. @default nothing happens */
  readonly onEscape?: (() => void) | undefined;
  /** What stands before a message. @default "› " */
  readonly prompt?: string | undefined;
  /** The terminal. @default standard output */
  readonly output?: NodeJS.WriteStream | undefined;
  /** What the arrow keys bring back. @default what was typed since it was made */
  readonly history?: LineHistory | undefined;
  /** Which messages that were sent ahead stay when something else is asked. @default all */
  readonly keepsAhead?: ((message: string) => boolean) | undefined;
  /** What Tab completes. @default nothing */
  readonly complete?: ((line: string) => Promise<Completion>) | undefined;
}

/** What a line editor writes to a terminal: its echo, which is not shown while something else has the screen. */
class EchoOutput extends Writable {
  readonly isTTY = true;
  isShown = false;
  readonly #terminal: NodeJS.WriteStream;

  constructor(terminal: NodeJS.WriteStream) {
    super();
    this.#terminal = terminal;
    terminal.on("resize", this.#onResize);
  }

  readonly #onResize = () => this.emit("resize");

  get columns(): number {
    return this.#terminal.columns;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.isShown) this.#terminal.write(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#terminal.off("resize", this.#onResize);
    done();
  }
}

/**
 * The messages of standard input, one at a time: its lines, or at a terminal what is sent with Enter. There a message has several lines
 * where they are pasted, end with a backslash, or with Alt+Enter; the arrow keys bring it back as one line, its line breaks shown as `⏎`. What is
 * typed while no message is waited for is shown with the next prompt.
 */
export class LineReader implements KeyReader {
  readonly isTerminal: boolean;
  readonly #reader: Interface;
  readonly #options: LineReaderOptions;
  readonly #output: NodeJS.WriteStream;
  readonly #prompt: string;
  /** What is typed, but for what something else reads. */
  readonly #keys = new PassThrough();
  readonly #closeKeys: () => void;
  #messages: string[] = [];
  /** The lines of the message that is written, but for the last. */
  readonly #begun: string[] = [];
  #isPasting = false;
  #isContinued = false;
  #waiting: Deferred<string | undefined> | undefined;
  #hasEnded = false;
  #isClosed = false;
  #echo: EchoOutput | undefined;
  /** What the arrow keys bring back, the last first: that of the line editor. */
  #recalled: string[] = [];

  constructor(options: LineReaderOptions) {
    const { history, complete, prompt = usualPrompt, output = io().stdout } = options;
    const { stdin } = io();
    this.#options = options;
    this.#output = output;
    this.#prompt = prompt;
    this.isTerminal = stdin.isTTY === true && output.isTTY === true;
    if (this.isTerminal) this.#echo = new EchoOutput(output);
    this.#reader = createInterface({
      input: this.isTerminal ? this.#keys : stdin,
      terminal: this.isTerminal,
      prompt,
      output: this.#echo,
      escapeCodeTimeout,
      ...(history && { history: history.lines.map(asOneLine), removeHistoryDuplicates: true }),
      ...(complete && {
        completer: (line: string, done: (error: null, found: Completion) => void) =>
          void complete(line).then((found) => done(null, found)),
      }),
    });
    this.#reader.on("line", (line) => (this.isTerminal ? this.#typed(line) : this.#take(line)));
    this.#reader.on("SIGINT", this.#interrupted);
    this.#reader.on("SIGTSTP", () => keyboard().suspend(this.#isBack));
    this.#reader.on("close", this.#ended);
    this.#reader.on("history", (lines: string[]) => (this.#recalled = lines));
    // Before the interface, which ends a line at Enter.
    this.#keys.prependListener("keypress", this.#onKey);
    this.#closeKeys = this.isTerminal ? keyboard().open(this) : () => {};
  }

  take(chunk: Buffer | string): void {
    this.#keys.emit("data", chunk);
  }

  end(): void {
    this.#reader.close();
  }

  covered(): void {
    // The end of a paste would come to what covers it.
    this.#isPasting = false;
    const { keepsAhead } = this.#options;
    if (keepsAhead) this.#messages = this.#messages.filter(keepsAhead);
  }

  get isAwaited(): boolean {
    return this.#waiting !== undefined;
  }

  readonly #isBack = (): void => {
    if (this.#waiting !== undefined && !this.#hasEnded) this.#reader.prompt(true);
  };

  readonly #onKey = (_: unknown, key: Key | undefined): void => {
    if (key?.name === "paste-start") this.#isPasting = true;
    if (key?.name === "paste-end") this.#isPasting = false;
    if (key?.name === "up" && this.#begun.length > 0 && !this.#isPasting) this.#editWhole();
    if (key?.name === "escape" && this.#waiting === undefined && !this.#isPasting) this.#options.onEscape?.();
    if (key?.name !== "return" || key.meta !== true) return;
    this.#isContinued = true;
    this.#reader.write(null as unknown as string, { name: "return" });
    this.#isContinued = false;
  };

  #typed(line: string): void {
    const continues = /(?:^|[^\\])\\$/.test(line);
    // The message is brought back whole, and not by its lines.
    if (this.#recalled[0] === line) this.#recalled.shift();
    if (this.#isPasting || this.#isContinued || continues) {
      this.#begun.push(continues && !this.#isPasting ? line.slice(0, -1) : line);
      this.#reader.setPrompt(furtherPrompt);
      this.#reader.prompt();
      return;
    }
    const message = [...this.#begun.splice(0), line].join("\n").replaceAll(lineBreak, "\n");
    this.#options.history?.add(message);
    if (message.trim() !== "") this.#recalled.unshift(asOneLine(message));
    this.#take(message);
  }

  /** Several lines that are written are edited as one. */
  #editWhole(): void {
    const whole = [...this.#begun.splice(0), this.#reader.line].join(lineBreak);
    this.#clearLine();
    this.#reader.setPrompt(this.#prompt);
    this.#reader.write(whole);
  }

  #clearLine(): void {
    this.#reader.write(null as unknown as string, { ctrl: true, name: "e" });
    this.#reader.write(null as unknown as string, { ctrl: true, name: "u" });
  }

  readonly #interrupted = (): void => {
    const isTyped = this.#reader.line !== "" || this.#begun.length > 0;
    if (this.#waiting === undefined) {
      this.#options.onInterrupt();
      return;
    }
    this.#output.write("\n");
    if (isTyped) {
      this.#begun.length = 0;
      this.#clearLine();
    } else this.#options.onInterrupt();
    if (!this.#hasEnded) this.#ask();
  };

  readonly #ended = (): void => {
    this.#hasEnded = true;
    // Ctrl-D ends the input behind the prompt.
    if (this.isTerminal && this.#waiting !== undefined && !this.#isClosed) this.#output.write("\n");
    this.#echo?.end();
    this.#closeKeys();
    if (this.#messages.length === 0) this.#waiting?.resolve(undefined);
  };

  #take(message: string): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      if (this.#echo) this.#echo.isShown = false;
      this.#waiting = undefined;
      waiting.resolve(message);
      return;
    }
    this.#messages.push(message);
    if (this.#messages.length >= maxLines && !this.#hasEnded) this.#reader.pause();
  }

  #ask(): void {
    if (this.#echo) this.#echo.isShown = true;
    this.#reader.setPrompt(this.#prompt);
    this.#reader.prompt(true);
  }

  /** The next message; undefined at the end of the input. */
  next(): Promise<string | undefined> {
    const message = this.#messages.shift();
    if (message !== undefined) {
      if (this.isTerminal)
        this.#output.write(`${this.#prompt}${displayText(message, { multiline: true })}\n`);
      return Promise.resolve(message);
    }
    if (this.#hasEnded) return Promise.resolve(undefined);
    this.#reader.resume();
    if (this.isTerminal) {
      keyboard().listen();
      this.#ask();
    }
    this.#waiting = createDeferred();
    return this.#waiting.promise;
  }

  /** What was sent and not taken is forgotten. */
  close(): void {
    this.#messages = [];
    this.#isClosed = true;
    this.#reader.close();
  }
}
