import type { EventBody } from "@harnesskit/protocol/threads";
import { type Clock, systemClock } from "@harnesskit/wire";
import stringWidth from "fast-string-width";
import { io } from "../io.ts";
import { toolName } from "./text.ts";

type Stream = Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">;

export interface SpinnerOptions {
  /** The terminal. @default standard output */
  readonly stream?: Stream;
  /** What the user can do meanwhile. @default nothing is said */
  readonly hint?: string | undefined;
  /** What writes to the same terminal. @default standard error */
  readonly other?: Stream;
  /** @default the real time */
  readonly clock?: Clock;
}

interface Waited {
  readonly label: string;
  readonly sinceMs: number;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;
const quietMs = 300;

const saveCursor = "\u001b7";
const restoreCursor = "\u001b8";
const clearRight = "\u001b[K";

const elapsed = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** True for a terminal that can move its cursor. `NO_COLOR` changes nothing: the spinner has no colour. */
export const canSpin = (stream: Pick<Stream, "isTTY">, env: NodeJS.ProcessEnv = io().env): boolean =>
  stream.isTTY === true && env.TERM !== "dumb";

/**
 * Shows behind what was written last that something works, and for how long. Whatever is written to the terminal takes
 * its place first, so no line is changed by it. It takes over `write` of both streams until it is disposed of.
 */
export class Spinner {
  readonly #stream: Stream;
  readonly #clock: Clock;
  readonly #hint: string;
  readonly #write: Stream["write"];
  readonly #undo: (() => void)[] = [];
  #column = 0;
  #lastWriteMs: number;
  #frame = 0;
  #isShown = false;
  #work: Waited | undefined;
  readonly #instead: (Waited | { readonly label: undefined })[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(options: SpinnerOptions = {}) {
    const { stream = io().stdout, other = io().stderr, clock = systemClock, hint } = options;
    this.#stream = stream;
    this.#hint = hint === undefined ? "" : ` · ${hint}`;
    this.#clock = clock;
    this.#write = stream.write.bind(stream) as Stream["write"];
    this.#lastWriteMs = clock.elapsedMs();
    for (const one of other.isTTY ? [stream, other] : [stream]) this.#watch(one);
    process.once("exit", this.rest);
  }

  work(label: string): void {
    if (this.#work?.label === label) return;
    this.#hide();
    this.#work = { label, sinceMs: this.#clock.elapsedMs() };
    this.#cancelTimer ??= this.#clock.after(frameMs, this.#tick);
  }

  readonly rest = (): void => {
    this.#hide();
    this.#work = undefined;
    if (this.#instead.length > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  };

  /** Shows another label, or nothing, whatever works meanwhile: a question is put. What is returned ends that. */
  instead(label?: string): () => void {
    this.#hide();
    const one = label === undefined ? { label } : { label, sinceMs: this.#clock.elapsedMs() };
    this.#instead.push(one);
    this.#cancelTimer ??= this.#clock.after(frameMs, this.#tick);
    return () => {
      this.#hide();
      const at = this.#instead.indexOf(one);
      if (at !== -1) this.#instead.splice(at, 1);
    };
  }

  dispose(): void {
    this.#instead.length = 0;
    this.rest();
    process.off("exit", this.rest);
    for (const undo of this.#undo.splice(0)) undo();
  }

  #watch(stream: Stream): void {
    const own = Object.getOwnPropertyDescriptor(stream, "write");
    const original = stream.write;
    const watched = (...args: Parameters<Stream["write"]>): boolean => {
      this.#hide();
      this.#follow(args[0]);
      return original.apply(stream, args);
    };
    stream.write = watched as Stream["write"];
    this.#undo.push(() => {
      if (own) Object.defineProperty(stream, "write", own);
      else Reflect.deleteProperty(stream, "write");
    });
  }

  #follow(data: string | Uint8Array): void {
    this.#lastWriteMs = this.#clock.elapsedMs();
    const text = typeof data === "string" ? data : Buffer.from(data).toString("utf8");
    const lineStart = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    const width = stringWidth(text.slice(lineStart));
    this.#column = lineStart > 0 ? width : this.#column + width;
  }

  readonly #tick = (): void => {
    const shown = this.#instead.at(-1) ?? this.#work;
    this.#cancelTimer = shown && this.#clock.after(frameMs, this.#tick);
    const nowMs = this.#clock.elapsedMs();
    if (shown?.label === undefined || nowMs - this.#lastWriteMs < quietMs) return;
    const { label, sinceMs } = shown;
    const space = this.#column === 0 ? "" : " ";
    const frame = frames[this.#frame++ % frames.length];
    const text = `${space}${frame} ${label} ${elapsed(nowMs - sinceMs)}${this.#hint}`;
    // Where it does not fit, it would begin a line of its own.
    if (this.#column + stringWidth(text) >= (this.#stream.columns || 80)) this.#hide();
    else {
      this.#write(`${this.#isShown ? restoreCursor : ""}${saveCursor}${text}${clearRight}`);
      this.#isShown = true;
    }
  };

  #hide(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#write(`${restoreCursor}${clearRight}`);
  }
}

/** What is waited for, in words: the model, a tool, the engine of a shell, or a human at the hub. */
export const modelLabel = "waiting for the model";
export const engineLabel = "waiting for the engine";
export const hubLabel = "waiting for you, in the hub";
const toolLabel = (tool = "the tool"): string => `waiting for ${toolName(tool)}`;

/** Tells a spinner from the events of a thread what is waited for: the model, a tool, or nothing while a user is asked. */
export class WorkSigns {
  readonly #spinner: Spinner | undefined;
  readonly #asked = new Set<string>();
  #tool: string | undefined;

  constructor(spinner: Spinner | undefined) {
    this.#spinner = spinner;
  }

  observe({ type, data }: EventBody): void {
    if (!this.#spinner) return;
    switch (type) {
      case "turn.started":
        this.#works(modelLabel);
        break;
      case "item.started":
      case "item.updated":
        if (data.item.type !== "tool_exec") break;
        this.#tool = data.item.data?.tool;
        this.#works(toolLabel(this.#tool));
        break;
      case "item.completed":
        if (data.type === "tool_exec") this.#works(modelLabel);
        break;
      case "approval.requested":
        this.#asked.add(data.requestId);
        this.#spinner.rest();
        break;
      case "approval.resolved":
        this.#asked.delete(data.requestId);
        this.#works(toolLabel(this.#tool));
        break;
      case "turn.completed":
      case "turn.error":
        this.#asked.clear();
        this.#spinner.rest();
    }
  }

  #works(label: string): void {
    if (this.#asked.size === 0) this.#spinner?.work(label);
  }
}
