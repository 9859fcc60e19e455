import { createInterface, type Interface } from "node:readline";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { io } from "../io.ts";

const maxLines = 1_000;

/** The lines of standard input, one at a time, with a prompt where it is a terminal. */
export class LineReader {
  readonly isTerminal: boolean;
  readonly #reader: Interface;
  readonly #lines: string[] = [];
  #waiting: Deferred<string | undefined> | undefined;
  #hasEnded = false;

  /** @param onInterrupt called for Ctrl-C in a terminal */
  constructor(onInterrupt: () => void, input = io().stdin, output = io().stdout) {
    this.isTerminal = input.isTTY === true && output.isTTY === true;
    this.#reader = createInterface({
      input,
      terminal: this.isTerminal,
      prompt: "› ",
      output: this.isTerminal ? output : undefined,
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

  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#hasEnded) return Promise.resolve(undefined);
    this.#reader.resume();
    if (this.isTerminal) this.#reader.prompt();
    this.#waiting = createDeferred();
    return this.#waiting.promise;
  }

  close(): void {
    this.#lines.length = 0;
    this.#reader.close();
  }
}

/** What a line of the user asks for. */
export type ChatCommand =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "approve"; readonly id: string }
  | { readonly kind: "reject"; readonly id: string; readonly reason: string | undefined }
  | { readonly kind: "help" | "pending" | "quit" | "nothing" }
  | { readonly kind: "unknown"; readonly word: string };

export const chatHelp = [
  "/approve ID         run the call that waits; without an ID the only one",
  "/reject ID [REASON] do not run it; the model gets the reason",
  "/pending            show what waits",
  "/quit               leave; what waits goes on waiting",
  "//text              a message that begins with a /",
  "Ctrl-C              cancels a turn that runs, and leaves otherwise",
];

/** Reads a line. */
export const parseChatLine = (line: string): ChatCommand => {
  const text = line.trim();
  if (text === "") return { kind: "nothing" };
  if (!text.startsWith("/")) return { kind: "message", text };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) };
  const [word = "", id = "", ...rest] = text.split(/\s+/);
  switch (word) {
    case "/approve":
      return rest.length === 0 ? { kind: "approve", id } : { kind: "unknown", word: text };
    case "/reject": {
      const reason = text.slice(word.length).trim().slice(id.length).trim();
      return { kind: "reject", id, reason: reason === "" ? undefined : reason };
    }
    case "/help":
    case "/pending":
    case "/quit":
      return { kind: word.slice(1) as "help" | "pending" | "quit" };
    default:
      return { kind: "unknown", word };
  }
};
