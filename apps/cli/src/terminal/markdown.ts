import { codeKind } from "@harnesskit/approvals";
import { Lexer, type Token, type Tokens } from "marked";
import { codeLine } from "../timeline/approval-lines.ts";
import { safeProse } from "./prose.ts";
import { tableLines } from "./table-lines.ts";
import type { Style } from "./terminal.ts";
import { oneLine, wrapText } from "./text.ts";

const maxUrlWidth = 300;
const blankEnd = /\n[ \t]*\n\s*$/;

/** The blocks of Markdown: what they are of its text is their `raw`. What is nested too deep for the parser is one block of text. */
export const blocksOf = (text: string): Token[] => {
  try {
    return Lexer.lex(text, { gfm: true });
  } catch (error) {
    if (error instanceof RangeError) return [{ type: "text", raw: text, text }];
    throw error;
  }
};

/** Whether an empty line stands behind a block. */
export const isApart = ({ raw }: Token): boolean => blankEnd.test(raw);

/** Whether the colours of code in this language are known. */
export const isKnownLanguage = (language: string): boolean => codeKind(language) !== undefined;

/** Markdown at a terminal of so many columns. Untrusted text is made safe here; HTML and images are shown as text. */
export class Markdown {
  readonly #style: Style;
  readonly #isColoured: boolean;

  constructor(style: Style) {
    this.#style = style;
    this.#isColoured = style.bold("x") !== "x";
  }

  lines(blocks: readonly Token[], columns: number | undefined): string[] {
    const lines: string[] = [];
    for (const [at, block] of blocks.entries()) {
      const before = blocks[at - 1];
      if (lines.length > 0 && before !== undefined && isApart(before)) lines.push("");
      for (const line of this.#block(block, columns)) lines.push(line);
    }
    return lines;
  }

  #block(block: Token, columns: number | undefined): string[] {
    const style = this.#style;
    switch (block.type) {
      case "space":
      case "checkbox":
        return [];
      case "heading": {
        const { depth, tokens } = block as Tokens.Heading;
        // Without colours a heading would look like a paragraph.
        const mark = this.#isColoured ? "" : `${"#".repeat(depth)} `;
        return wrapped(mark + style.bold(this.#inline(tokens)), columns);
      }
      case "hr":
        return [style.dim("─".repeat(20))];
      case "list":
        return this.#list(block as Tokens.List, columns);
      case "blockquote":
        return behind(
          `${style.dim("┃")} `,
          this.lines((block as Tokens.Blockquote).tokens, less(columns, 2)),
        );
      case "code":
        return this.#code(block as Tokens.Code, columns);
      case "table":
        return this.#table(block as Tokens.Table, columns);
      default: {
        const { tokens, raw } = block as Tokens.Generic;
        return wrapped(tokens === undefined ? safeProse(raw.trimEnd()) : this.#inline(tokens), columns);
      }
    }
  }

  /** A language whose colours are not known is named. */
  #code({ text, lang: language = "" }: Tokens.Code, columns: number | undefined): string[] {
    const { dim } = this.#style;
    const kind = codeKind(language);
    const label = kind === undefined && language !== "" ? [dim(oneLine(language, 60))] : [];
    const lines = text === "" ? [] : safeProse(text).replaceAll("\t", "    ").split("\n");
    const shown = lines.map((line) =>
      `${dim("│")} ${codeLine(kind ?? "prompt", line, this.#style)}`.trimEnd(),
    );
    return [...label, ...shown.flatMap((line) => wrapText(line, columns).split("\n"))];
  }

  #list({ ordered, start, items }: Tokens.List, columns: number | undefined): string[] {
    return items.flatMap(({ tokens, task, checked }, at) => {
      const mark = `${ordered ? `${Number(start) + at}.` : "•"} `;
      const box = task ? `${checked === true ? "☑" : "☐"} ` : "";
      const [first = "", ...further] = tokens.flatMap((block) =>
        this.#block(block, less(columns, mark.length)),
      );
      return [`${mark}${box}${first}`.trimEnd(), ...behind(" ".repeat(mark.length), further)];
    });
  }

  #table({ header, rows }: Tokens.Table, columns: number | undefined): string[] {
    const cell = ({ text }: Tokens.TableCell) => oneLine(text, 200);
    const table = {
      columns: header.map((head) => ({ label: cell(head), isNumeric: head.align === "right" })),
      rows: rows.map((row) => row.map(cell)),
    };
    return tableLines(table, this.#style, columns);
  }

  #inline(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#inlineToken(token)).join("");
  }

  #inlineToken(token: Token): string {
    const { bold, italic, dim, cyan } = this.#style;
    switch (token.type) {
      case "strong":
        return bold(this.#inline((token as Tokens.Strong).tokens));
      case "em":
        return italic(this.#inline((token as Tokens.Em).tokens));
      case "del":
        return dim(this.#inline((token as Tokens.Del).tokens));
      case "codespan":
        return cyan(safeProse(this.#isColoured ? (token as Tokens.Codespan).text : token.raw));
      case "br":
        return "\n";
      case "checkbox":
        return "";
      case "link":
      case "image":
        return this.#link(token as Tokens.Link | Tokens.Image);
      default: {
        const { tokens, text, raw } = token as Tokens.Generic;
        if (tokens !== undefined) return this.#inline(tokens);
        return safeProse(token.type === "html" ? raw : String(text ?? raw));
      }
    }
  }

  /** Where it leads is always said: the words of a link are the model's. */
  #link(link: Tokens.Link | Tokens.Image): string {
    const { underline, dim } = this.#style;
    const { href, text } = link;
    const words =
      link.type === "image" ? `[image: ${safeProse(text)}]` : underline(this.#inline(link.tokens));
    const isSaid = text === href || `mailto:${text}` === href || `http://${text}` === href;
    return isSaid ? words : `${words}${dim(` (${oneLine(href, maxUrlWidth)})`)}`;
  }
}

const wrapped = (text: string, columns: number | undefined): string[] =>
  wrapText(text, columns, "").split("\n");

const less = (columns: number | undefined, by: number): number | undefined => columns && columns - by;

const behind = (start: string, lines: readonly string[]): string[] =>
  lines.map((line) => `${start}${line}`.trimEnd());
