import { displayText } from "@harnesskit/wire";
import stringWidth from "fast-string-width";
import type { Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";

const maxHeldChars = 256;
const unlimited = Number.POSITIVE_INFINITY;

/**
 * Streams untrusted prose as safe text. A word is written when it is whole, so that no character is judged by half;
 * on a terminal lines break between words. White space at both ends is left out.
 */
export class Prose {
  readonly #terminal: Terminal;
  readonly #paint: (text: string) => string;
  #held = "";
  #space = "";
  #column = 0;
  #started = false;

  constructor(terminal: Terminal, paint: (text: string) => string) {
    this.#terminal = terminal;
    this.#paint = paint;
  }

  push(delta: string): void {
    const text = this.#held + delta;
    const end = this.#wholeEnd(text);
    this.#held = text.slice(end);
    this.#write(text.slice(0, end));
  }

  end(): boolean {
    this.#write(this.#held);
    this.#held = "";
    return this.#started;
  }

  #wholeEnd(text: string): number {
    const space = text.search(/\s\S*$/);
    if (text.length - (space + 1) <= maxHeldChars) return space + 1;
    // What a cluster could still go on with stays behind.
    const tail = /(?:[\p{Cs}\p{Cf}\p{Extended_Pictographic}]|\p{M})*$/u.exec(text)?.index ?? text.length;
    return Math.max(space + 1, text.length - tail > 64 ? text.length : tail);
  }

  #write(text: string): void {
    if (text === "") return;
    const safe = displayText(text.replaceAll("\r\n", "\n"), { multiline: true, maxLength: unlimited });
    for (const part of safe.match(/\n|[ \t]+|[^\s]+/g) ?? []) {
      if (part === "\n" || part[0] === " " || part[0] === "\t") {
        if (this.#started) this.#space += part;
      } else this.#word(part);
    }
  }

  #word(word: string): void {
    const width = stringWidth(word);
    const { columns = unlimited } = this.#terminal;
    const lineBreak = this.#space.lastIndexOf("\n");
    const indent = stringWidth(this.#space.slice(lineBreak + 1).replaceAll("\t", "        "));
    if (lineBreak !== -1) this.#column = 0;
    const wraps = this.#column > 0 && this.#space !== "" && this.#column + indent + width >= columns;
    this.#terminal.write((wraps ? "\n" : this.#space) + this.#paint(word));
    this.#column = wraps ? width : this.#column + indent + width;
    this.#space = "";
    this.#started = true;
  }
}

const firstLines = 20;
const lastLines = 8;
const maxLineChars = 2_000;
const maxLineWidth = 400;

/** Shows the output of one stream of a tool: indented, dimmed, as safe text, its middle left out where it is long. */
export class LogView {
  readonly #terminal: Terminal;
  #partial = "";
  #lines = 0;
  #last: string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  push(text: string): void {
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      this.#line(this.#partial + part);
      this.#partial = "";
    }
    this.#partial = (this.#partial + rest).slice(0, maxLineChars);
  }

  end(truncated: boolean): void {
    if (this.#partial !== "") this.#line(this.#partial);
    this.#partial = "";
    const hidden = this.#lines - firstLines - this.#last.length;
    if (hidden > 0) this.#write(this.#terminal.style.dim(`  … ${hidden} more lines`));
    for (const line of this.#last) this.#show(line);
    if (truncated) this.#write(this.#terminal.style.dim("  … the log was cut here by the server"));
    this.#last = [];
  }

  #line(line: string): void {
    this.#lines++;
    if (this.#lines <= firstLines) this.#show(line);
    else {
      this.#last.push(line.slice(0, maxLineChars));
      if (this.#last.length > lastLines) this.#last.shift();
    }
  }

  #show(line: string): void {
    const { columns } = this.#terminal;
    const width = columns === undefined ? maxLineWidth : columns - 5;
    const text = oneLine(line.slice(0, maxLineChars).replace(/\r$/, "").replaceAll("\t", "    "), width);
    this.#write(this.#terminal.style.dim(`  │ ${text}`.trimEnd()));
  }

  #write(text: string): void {
    this.#terminal.write(`${text}\n`);
  }
}
