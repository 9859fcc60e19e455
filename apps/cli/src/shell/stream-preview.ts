import type { ShellStreamEvent } from "@harnesskit/shell-client";
import { type Clock, systemClock } from "@harnesskit/wire";
import { wrapAnsi } from "fast-wrap-ansi";
import { safeProse } from "../terminal/prose.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";

/** How much of a message is held: a terminal shows its end. */
const maxTextLength = 20_000;
const maxParts = 100;
const maxTitleLength = 300;
/** How often the terminal is written to. */
const drawMs = 50;
/** Lines of the terminal that a preview leaves free. */
const freeLines = 4;
const maxLines = 40;
const tab = "    ";
/** Terminals differ in whether these make one character of two, and so in its width. */
const joiners = /[\u200d\p{Emoji_Modifier}]/gu;

type Progress = Extract<ShellStreamEvent, { readonly type: "progress" }>;

const signs = { running: "…", done: "✓", failed: "✗" } as const;

/**
 * Shows the end of what an engine is about to answer, in lines that are taken back: before anything else is written, and when the
 * answer is there. All of it is safe text.
 */
export class StreamPreview {
  readonly #terminal: Terminal;
  readonly #rows: () => number;
  readonly #clock: Clock;
  readonly #parts = new Map<string, string | Progress>();
  #drawn = 0;
  #cancelTimer: (() => void) | undefined;

  /** @param rows the height of the terminal */
  constructor(terminal: Terminal, rows: () => number, clock: Clock = systemClock) {
    this.#terminal = terminal;
    this.#rows = rows;
    this.#clock = clock;
  }

  readonly show = (event: ShellStreamEvent): void => {
    switch (event.type) {
      case "text": {
        const before = this.#parts.get(`text ${event.messageId}`) ?? "";
        this.#put(`text ${event.messageId}`, `${before}${event.delta}`.slice(-maxTextLength));
        break;
      }
      case "progress":
        this.#put(`progress ${event.directiveId}`, event);
        break;
      case "opened":
      case "ended":
        this.#parts.clear();
        this.clear();
        return;
    }
    this.#cancelTimer ??= this.#clock.after(drawMs, () => this.#draw());
  };

  /** Takes back what is shown. It comes again with the next event. */
  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#drawn === 0) return;
    this.#terminal.takeBack(this.#drawn);
    this.#drawn = 0;
  }

  #put(key: string, part: string | Progress): void {
    if (this.#parts.size < maxParts || this.#parts.has(key)) this.#parts.set(key, part);
  }

  #draw(): void {
    this.clear();
    const room = Math.max(1, Math.min(maxLines, this.#rows() - freeLines));
    const lines = [...this.#parts.values()].flatMap((part) => this.#linesOf(part)).slice(-room);
    if (lines.length === 0) return;
    this.#terminal.write(`${lines.join("\n")}\n`);
    this.#drawn = lines.length;
  }

  /** Each is one row of the terminal: rows that are not counted would not be taken back. */
  #linesOf(part: string | Progress): string[] {
    const { style, columns = 80 } = this.#terminal;
    // The last column stays free: some terminals begin a row behind it.
    const width = Math.max(1, columns - 1);
    if (typeof part === "string") {
      // Half of a pair at an end is not a character yet.
      const text = part.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
      const shown = safeProse(text).trim().replaceAll("\t", tab).replaceAll(joiners, "");
      return wrapAnsi(shown, width, { hard: true, trim: false })
        .split("\n")
        .map((line) => style.dim(line));
    }
    const { state, message, actionType = "a directive", fraction } = part;
    const share = fraction === undefined || state !== "running" ? "" : ` ${Math.round(fraction * 100)} %`;
    const room = width - "●  …".length - share.length;
    const title = oneLine(
      (message ?? actionType).replaceAll(joiners, ""),
      Math.max(1, Math.min(maxTitleLength, room)),
    );
    return [`${style.cyan("●")} ${title}${style.dim(share)} ${style.dim(signs[state])}`];
  }
}
