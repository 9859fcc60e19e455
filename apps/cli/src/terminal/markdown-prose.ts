import type { Token, Tokens } from "marked";
import { blocksOf, isApart, isKnownLanguage, Markdown } from "./markdown.ts";
import { type ProseWriter, safeProse, wholeEnd } from "./prose.ts";
import { createStyle, type Paint, type Terminal } from "./terminal.ts";
import { wrapText } from "./text.ts";

/** What is longer and has no end yet is shown as it is. */
const maxOpenChars = 20_000;
/** What may begin Markdown within a line. */
const special = /\*(?!\s)|(?<!\w)_|[`~[\\]|!$|<(?!\s)/;
const maxReadAtOnce = 2_000;
const slowReadMs = 50;
const maxWordLength = 256;
const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*(\S*)/;

/**
 * Streams Markdown to a terminal: of the block that comes, what is certain is drawn, and what it has more than before is written. Words of a
 * paragraph are so written as they come; other blocks when they are whole, a list by its items and code by its lines. Nothing that was written is
 * changed later: where it would be, the rest of the block is shown as it is.
 */
export class MarkdownProse implements ProseWriter {
  readonly #terminal: Terminal;
  readonly #paint: Paint;
  readonly #markdown: Markdown;
  /** The block that has no end yet. */
  #text = "";
  /** How much of it is certain, and how that was drawn. */
  #certain = 0;
  #drawn = "";
  #nextLength = 0;
  #isStarted = false;
  #isApart = false;

  /** @param paint of all of it, which then has no other style */
  constructor(terminal: Terminal, paint: Paint) {
    this.#terminal = terminal;
    this.#paint = paint;
    this.#markdown = new Markdown(paint("x") === "x" ? terminal.style : createStyle(false));
  }

  push(delta: string): void {
    // A carriage return may be half of a line's end.
    this.#text = `${this.#text}${delta}`.replaceAll("\r\n", "\n");
    // What is long is not read again for each word.
    if (this.#text.length < this.#nextLength) return;
    const begun = performance.now();
    const blocks = blocksOf(this.#text);
    const [open] = blocks.splice(openAt(blocks));
    for (const block of blocks) this.#finish(block);
    if (open === undefined) return;
    this.#show(open);
    if (this.#text.length > maxOpenChars) this.#cut(open);
    const { length } = this.#text;
    // What is made to be slow to read is read a few times only.
    const growth = performance.now() - begun > slowReadMs ? 2 : 1.03;
    this.#nextLength = length > maxReadAtOnce ? Math.min(length * growth, maxOpenChars + 1) : 0;
  }

  end(): boolean {
    for (const block of blocksOf(this.#text)) this.#finish(block);
    return this.#isStarted;
  }

  #draw(blocks: readonly Token[]): string {
    return this.#markdown.lines(blocks, this.#terminal.columns).join("\n");
  }

  #show(block: Token): void {
    const certain = certainLength(block);
    if (certain <= this.#certain) return;
    const drawn = this.#draw(blocksOf(block.raw.slice(0, certain))).trimEnd();
    if (!drawn.startsWith(this.#drawn)) return;
    this.#write(drawn.slice(this.#drawn.length));
    this.#drawn = drawn;
    this.#certain = certain;
  }

  #finish(block: Token): void {
    const drawn = this.#draw([block]);
    if (drawn.startsWith(this.#drawn)) this.#write(drawn.slice(this.#drawn.length));
    else this.#write(`\n${this.#draw(blocksOf(block.raw.slice(this.#certain)))}`);
    this.#isApart ||= isApart(block);
    this.#drop(block.raw.length);
  }

  /** Takes of what is too long all that is certain. Code goes on as code. */
  #cut({ type, raw }: Token): void {
    if (this.#certain === 0) {
      const end = wholeEnd(raw);
      this.#write(wrapText(safeProse(raw.slice(0, end)), this.#terminal.columns, ""));
      this.#drop(end);
      return;
    }
    this.#drop(this.#certain);
    const [, mark = "", language = ""] = type === "code" ? (fence.exec(raw) ?? []) : [];
    if (mark !== "") this.#text = `${mark}${isKnownLanguage(language) ? language : ""}\n${this.#text}`;
  }

  #drop(length: number): void {
    this.#text = this.#text.slice(length);
    this.#certain = 0;
    this.#drawn = "";
  }

  #write(text: string): void {
    if (text === "") return;
    if (this.#drawn === "") {
      if (this.#isStarted) this.#terminal.write(this.#isApart ? "\n\n" : "\n");
      this.#isApart = false;
    }
    this.#terminal.write(text.split("\n").map(this.#paint).join("\n"));
    this.#isStarted = true;
  }
}

/** The place of the block that has no end yet: the last one, or a list that may go on behind an empty line. */
const openAt = (blocks: readonly Token[]): number => {
  const list = blocks.findLastIndex(({ type }) => type === "list");
  const behind = blocks.slice(list + 1).map(({ raw }) => raw);
  return list >= 0 && /^\s*(?:\d*[.)]?|[-*+])[ \t]*$/.test(behind.join(""))
    ? list
    : Math.max(0, blocks.length - 1);
};

/** How much of the raw text of a block no text behind it can change. */
const certainLength = (block: Token): number => {
  const { raw } = block;
  switch (block.type) {
    case "paragraph":
    case "text":
      return certainWords(block as Tokens.Paragraph);
    case "list":
      return (block as Tokens.List).items.slice(0, -1).reduce((sum, item) => sum + item.raw.length, 0);
    case "code":
      return fence.test(raw) ? raw.lastIndexOf("\n") + 1 : 0;
    case "heading":
    case "hr":
      return raw.endsWith("\n") ? raw.length : 0;
    default:
      return 0;
  }
};

const certainWords = ({ raw, tokens = [] }: Tokens.Paragraph): number => {
  // Its first word is whole, and no cell of a table ends in its first line: it can become nothing but a paragraph.
  if (!/^\s*\S+[ \t]/.test(raw) || /^[^\n]*\|/.test(raw)) return 0;
  // A word that goes on may move to the next line.
  let words = 0;
  let start = 0;
  let end = 0;
  for (const { type, raw: whole } of tokens) {
    start = end;
    const found = type === "text" ? whole.search(special) : -1;
    const part = found === -1 ? whole : whole.slice(0, found);
    end += part.length;
    if (type !== "text") continue;
    const space = part.search(/\s\S*$/);
    if (space !== -1) words = start + space + 1;
    if (found !== -1) break;
  }
  const isLong = end - words > maxWordLength;
  return isLong ? Math.max(start, words + wholeEnd(raw.slice(words, end))) : words;
};
