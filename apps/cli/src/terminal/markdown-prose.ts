import { Lexer, type Token, type Tokens } from "marked";
import { MarkdownBlocks } from "./markdown-blocks.ts";
import { type ProseWriter, wholeEnd } from "./prose.ts";
import type { Paint } from "./style.ts";
import type { Terminal } from "./terminal.ts";

/** What is longer and has no end yet is shown as it is. */
const maxOpenChars = 20_000;
/** With it before them, the words that go on with a paragraph are read as such. */
const before = "x ";
/** What may begin Markdown within a line. */
const special = /[*_`~[\]<!\\]|https?:|www\./;
const blankLines = /^(?:[ \t]*\n)+/;
const openFence = /^ {0,3}(`{3,}|~{3,})[^`\n]*\n/;

const tokensOf = (text: string): Token[] => Lexer.lex(text, { gfm: true });

/** Whether a first line can become nothing but a paragraph: its first word is whole, and no cell of a table ends in it. */
const isParagraph = (text: string): boolean => /^\s*\S+[ \t]/.test(text) && !/^[^\n]*\|/.test(text);

/**
 * Streams Markdown to a terminal. Words of a paragraph are written as they come; other blocks when they are whole, a list by its
 * items and code by its lines. Nothing that was written is changed later.
 */
export class MarkdownProse implements ProseWriter {
  readonly #blocks: MarkdownBlocks;
  #text = "";
  #isInParagraph = false;
  #fence: string | undefined;

  constructor(terminal: Terminal, paint: Paint) {
    this.#blocks = new MarkdownBlocks(terminal, paint);
  }

  push(delta: string): void {
    // A carriage return may be half of a line's end.
    this.#text = `${this.#text}${delta}`.replaceAll("\r\n", "\n");
    while (this.#step(false));
    if (this.#text.length > maxOpenChars) this.#giveUp();
  }

  end(): boolean {
    while (this.#step(true));
    return this.#blocks.end();
  }

  /** Shows what can be shown; false if more must come first. */
  #step(isLast: boolean): boolean {
    if (this.#text === "" || (!isLast && this.#text === "\r")) return false;
    if (this.#fence !== undefined) return this.#code(this.#fence, isLast);
    const blank = blankLines.exec(this.#text)?.[0] ?? "";
    if (blank !== "" && !this.#isInParagraph) {
      if (blank.includes("\n")) this.#blocks.apart();
      return this.#take(blank.length);
    }
    if (this.#isInParagraph) return this.#paragraph(isLast);
    const fence = openFence.exec(this.#text);
    if (fence !== null) {
      this.#fence = fence[1] ?? "";
      this.#blocks.openCode(fence[0].slice(fence[0].indexOf(this.#fence) + this.#fence.length).trim());
      return this.#take(fence[0].length);
    }
    const [first, ...others] = tokensOf(this.#text);
    if (first === undefined) return this.#take(this.#text.length);
    const isOpen = others.length === 0 && !isLast;
    if (first.type === "paragraph" || first.type === "text") {
      if (isOpen && !isParagraph(this.#text)) return false;
      this.#blocks.openParagraph();
      this.#isInParagraph = true;
      return true;
    }
    if (first.type === "list") return this.#list(first as Tokens.List, isOpen);
    const isWhole = (first.type === "heading" || first.type === "hr") && first.raw.endsWith("\n");
    if (isOpen && !isWhole) return false;
    this.#blocks.block(first);
    return this.#take(first.raw.length);
  }

  #take(length: number): boolean {
    this.#text = this.#text.slice(Math.max(1, length));
    return true;
  }

  #list({ items, ...list }: Tokens.List, isOpen: boolean): boolean {
    const done = isOpen ? items.slice(0, -1) : items;
    if (done.length === 0) return false;
    this.#blocks.block({ ...list, items: done } as Tokens.List);
    return this.#take(isOpen ? done.reduce((sum, { raw }) => sum + raw.length, 0) : list.raw.length);
  }

  #code(fence: string, isLast: boolean): boolean {
    const end = this.#text.indexOf("\n");
    if (end === -1 && !isLast) return false;
    const line = end === -1 ? this.#text : this.#text.slice(0, end);
    if (line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim())) {
      this.#fence = undefined;
      this.#blocks.closeCode();
    } else this.#blocks.codeLine(line);
    return this.#take(end === -1 ? line.length : end + 1);
  }

  #paragraph(isLast: boolean): boolean {
    const [first, ...others] = tokensOf(before + this.#text) as [Tokens.Paragraph, ...Token[]];
    if ((first as Token).type === "table") return this.#lineOfParagraph();
    const { tokens = [] } = first;
    const inline = tokens.map((token, index) =>
      index === 0
        ? { ...token, raw: token.raw.slice(2), text: String("text" in token ? token.text : "").slice(2) }
        : token,
    ) as Token[];
    if (others.length > 0 || isLast) {
      this.#isInParagraph = false;
      this.#blocks.inline(inline);
      return this.#take(first.raw.length - before.length);
    }
    const last = inline.at(-1);
    const done = inline.slice(0, -1);
    this.#blocks.inline(done);
    let taken = done.reduce((sum, { raw }) => sum + raw.length, 0);
    if (last?.type === "text") {
      const { raw } = last;
      const found = raw.search(special);
      const open = found === -1 ? raw : raw.slice(0, raw.slice(0, found).search(/\S*$/));
      // What follows a line's end may be another block.
      const sure = open.replace(/\s*\n\s*$/, "");
      const end = sure.length < open.length ? sure.length : wholeEnd(sure);
      this.#blocks.inline([{ ...last, raw: raw.slice(0, end), text: raw.slice(0, end) }]);
      taken += end;
    }
    this.#text = this.#text.slice(taken);
    return false;
  }

  /** The head of a table whose first words were shown as a paragraph stays its last line. */
  #lineOfParagraph(): boolean {
    const line = this.#text.slice(0, this.#text.indexOf("\n"));
    this.#isInParagraph = false;
    this.#blocks.inline(Lexer.lexInline(line, { gfm: true }));
    return this.#take(line.length);
  }

  #giveUp(): void {
    const end = wholeEnd(this.#text);
    this.#blocks.plain(this.#text.slice(0, end));
    this.#text = this.#text.slice(end);
    this.#isInParagraph = true;
  }
}
