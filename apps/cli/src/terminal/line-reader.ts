import { createInterface, type Interface, type Key } from "node:readline";
import { Writable } from "node:stream";
import { createDeferred, type Deferred, displayText } from "@harnesskit/wire";
import { io } from "../io.ts";
import { bracketedPaste } from "./choose.ts";
import type { Completion } from "./complete-line.ts";
import type { LineHistory } from "./line-history.ts";

const maxLines = 1_000;
const prompt = "› ";
const furtherPrompt = "… ";
/** A line break in a message that is edited as one line. */
const lineBreak = "⏎";
/** How long after Esc the rest of an arrow key's sequence may come. */
const escapeCodeTimeout = 100;

const asOneLine = (message: string): string => message.replaceAll("\n", lineBreak);

export interface LineReaderOptions {
  /** Called for Ctrl-C in a terminal where no text is typed. */
  readonly onInterrupt: () => void;
  /** Called for Esc while no message is waited for. @default nothing happens */
  readonly onEscape?: (() => void) | undefined;
  /** Called for Ctrl-Z, in place of stopping this process alone. @default the process stops */
  readonly onSuspend?: (() => void) | undefined;
  /** What the arrow keys bring back. @default what was typed since it was made */
  readonly history?: LineHistory | undefined;
  /** What is typed already. @default nothing */
  readonly draft?: string | undefined;
  /** What was sent already, and is given before anything else. @default nothing */
  readonly ahead?: readonly string[] | undefined;
  /** What Tab completes. @default nothing */
  readonly complete?: ((line: string) => Promise<Completion>) | undefined;
}

/** What a line editor writes to a terminal: its echo, which is not shown while something else has the screen. */
class EchoOutput extends Writable {
  readonly isTTY = true;
  isShown = true;
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
export class LineReader {
  readonly isTerminal: boolean;
  readonly #reader: Interface;
  readonly #options: LineReaderOptions;
  readonly #messages: string[];
  /** The lines of the message that is written, but for the last. */
  readonly #begun: string[] = [];
  #isPasting = false;
  #isContinued = false;
  #waiting: Deferred<string | undefined> | undefined;
  #hasEnded = false;
  #echo: EchoOutput | undefined;
  /** What the arrow keys bring back, the last first: that of the line editor. */
  #recalled: string[] = [];

  constructor(options: LineReaderOptions) {
    const { stdin: input, stdout: output } = io();
    this.#options = options;
    this.isTerminal = input.isTTY === true && output.isTTY === true;
    const { history, complete, onSuspend, draft = "", ahead = [] } = options;
    this.#messages = [...ahead];
    if (this.isTerminal) this.#echo = new EchoOutput(output);
    this.#reader = createInterface({
      input,
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
    if (onSuspend) this.#reader.on("SIGTSTP", onSuspend);
    this.#reader.on("close", this.#ended);
    if (!this.isTerminal) return;
    this.#reader.on("history", (lines: string[]) => (this.#recalled = lines));
    if (this.#echo) this.#echo.isShown = false;
    if (draft !== "") this.#reader.write(draft);
    // Before the interface, which ends a line at Enter.
    input.prependListener("keypress", this.#onKey);
    if (io().env.TERM !== "dumb") output.write(bracketedPaste.on);
    // A second Ctrl-C ends the process at once.
    process.once("exit", this.#endPaste);
  }

  readonly #endPaste = (): void => {
    if (io().env.TERM !== "dumb") io().stdout.write(bracketedPaste.off);
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
    this.#reader.setPrompt(prompt);
    this.#reader.write(whole);
  }

  #clearLine(): void {
    this.#reader.write(null as unknown as string, { ctrl: true, name: "e" });
    this.#reader.write(null as unknown as string, { ctrl: true, name: "u" });
  }

  /** What is typed, and not sent. */
  get draft(): string {
    return [...this.#begun, this.#reader.line].join(lineBreak);
  }

  readonly #interrupted = (): void => {
    const isTyped = this.#reader.line !== "" || this.#begun.length > 0;
    if (this.#waiting === undefined) {
      this.#options.onInterrupt();
      return;
    }
    io().stdout.write("\n");
    if (isTyped) {
      this.#begun.length = 0;
      this.#clearLine();
    } else this.#options.onInterrupt();
    if (!this.#hasEnded) this.#ask();
  };

  readonly #ended = (): void => {
    this.#hasEnded = true;
    this.#echo?.end();
    if (this.isTerminal) {
      io().stdin.off("keypress", this.#onKey);
      process.off("exit", this.#endPaste);
      this.#endPaste();
    }
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
    this.#reader.setPrompt(prompt);
    this.#reader.prompt(true);
  }

  /** The next message; undefined at the end of the input. */
  next(): Promise<string | undefined> {
    const message = this.#messages.shift();
    if (message !== undefined) {
      if (this.isTerminal) io().stdout.write(`${prompt}${displayText(message, { multiline: true })}\n`);
      return Promise.resolve(message);
    }
    if (this.#hasEnded) return Promise.resolve(undefined);
    this.#reader.resume();
    if (this.isTerminal) this.#ask();
    this.#waiting = createDeferred();
    return this.#waiting.promise;
  }

  /** Returns what was sent and not taken. */
  close(): readonly string[] {
    const left = this.#messages.splice(0);
    this.#reader.close();
    return left;
  }
}
