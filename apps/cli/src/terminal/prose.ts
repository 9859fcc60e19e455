import { displayText } from "@harnesskit/wire";
import type { Paint, Terminal } from "./terminal.ts";

/** Streams untrusted prose as safe text. White space at both ends is left out. */
export interface ProseWriter {
  push(delta: string): void;
  /** Writes what is left; true if there was anything to write. */
  end(): boolean;
}

export type OpenProse = (terminal: Terminal, paint: Paint) => ProseWriter;

const maxHeldChars = 256;

/** How much of a string can be shown: words that are whole, and of one without an end all but its last characters. */
export const wholeEnd = (text: string): number => {
  const space = text.search(/\s\S*$/);
  if (text.length - (space + 1) <= maxHeldChars) return space + 1;
  // What a cluster could still go on with stays behind.
  const tail = /(?:[\p{Cs}\p{Cf}\p{Extended_Pictographic}]|\p{M})*$/u.exec(text)?.index ?? text.length;
  return Math.max(space + 1, text.length - tail > 64 ? text.length : tail);
};

/** Untrusted text as safe lines, whole. */
export const safeProse = (text: string): string =>
  displayText(text.replaceAll("\r\n", "\n"), { multiline: true, maxLength: Number.POSITIVE_INFINITY });

/** Prose as it is. A word is written when it is whole, so that no character is judged by half. */
export class Prose implements ProseWriter {
  readonly #terminal: Terminal;
  readonly #paint: Paint;
  #held = "";
  #space = "";
  #isStarted = false;

  constructor(terminal: Terminal, paint: Paint) {
    this.#terminal = terminal;
    this.#paint = paint;
  }

  push(delta: string): void {
    const text = this.#held + delta;
    const end = wholeEnd(text);
    this.#held = text.slice(end);
    this.#write(text.slice(0, end));
  }

  end(): boolean {
    this.#write(this.#held);
    this.#held = "";
    return this.#isStarted;
  }

  #write(text: string): void {
    const all = this.#space + safeProse(text);
    const shown = this.#isStarted ? all.trimEnd() : all.trim();
    this.#space = this.#isStarted || shown !== "" ? all.slice(all.trimEnd().length) : "";
    if (shown === "") return;
    this.#terminal.write(this.#paint(shown));
    this.#isStarted = true;
  }
}

export const plainProse: OpenProse = (terminal, paint) => new Prose(terminal, paint);

/** What shows prose: its Markdown rendered at a terminal, else as it is, for programs that read it. `places`: where it may be shown. */
export const proseFor = async (...places: readonly Terminal[]): Promise<OpenProse> => {
  if (places.every(({ columns }) => columns === undefined)) return plainProse;
  // The parser is loaded only where its work is seen.
  const { MarkdownProse } = await import("./markdown-prose.ts");
  return (terminal, paint) =>
    terminal.columns === undefined ? plainProse(terminal, paint) : new MarkdownProse(terminal, paint);
};
