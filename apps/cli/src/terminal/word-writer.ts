import stringWidth from "fast-string-width";
import type { Paint } from "./style.ts";
import type { Terminal } from "./terminal.ts";

const unlimited = Number.POSITIVE_INFINITY;

interface Piece {
  readonly text: string;
  readonly paint: Paint;
}

/** Writes safe text word by word; on a terminal lines break between words. White space at both ends is left out. */
export class WordWriter {
  /** What stands before each further line. */
  hang = "";
  readonly #terminal: Terminal;
  #word: Piece[] = [];
  #space = "";
  #column = 0;
  #started = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get started(): boolean {
    return this.#started;
  }

  /** The last word is kept until it is known to be whole. */
  write(text: string, paint: Paint): void {
    for (const part of text.match(/\n|[ \t]+|[^\s]+/g) ?? []) {
      if (part === "\n" || part[0] === " " || part[0] === "\t") {
        this.flush();
        if (this.#started) this.#space += part === "\n" ? `\n${this.hang}` : part;
      } else this.#word.push({ text: part, paint });
    }
  }

  /** Begins a line of its own, with an empty one before it where `isApart`, and with what stands before its words. */
  line(isApart: boolean, lead: string, hang: string): void {
    this.flush();
    this.hang = hang;
    if (this.#started) this.#space = `${isApart ? "\n\n" : "\n"}${lead}`;
    else if (lead.trim() !== "") this.#emit(lead, lead);
  }

  /** Writes a line that is not broken between words. */
  exact(shown: string): void {
    this.flush();
    this.#emit(shown, shown.slice(shown.lastIndexOf("\n") + 1));
  }

  flush(): void {
    if (this.#word.length === 0) return;
    const word = this.#word.map(({ text }) => text).join("");
    const shown = this.#word.map(({ text, paint }) => paint(text)).join("");
    this.#word = [];
    this.#emit(shown, word);
  }

  #emit(shown: string, word: string): void {
    const width = stringWidth(word);
    const { columns = unlimited } = this.#terminal;
    const lineBreak = this.#space.lastIndexOf("\n");
    const indent = stringWidth(this.#space.slice(lineBreak + 1).replaceAll("\t", "        "));
    if (lineBreak !== -1) this.#column = 0;
    const wraps = this.#column > 0 && this.#space !== "" && this.#column + indent + width >= columns;
    this.#terminal.write((wraps ? `\n${this.hang}` : this.#space) + shown);
    this.#column = wraps ? stringWidth(this.hang) + width : this.#column + indent + width;
    this.#space = "";
    this.#started = true;
  }
}
