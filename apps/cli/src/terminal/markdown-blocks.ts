import { codeKind } from "@harnesskit/approvals";
import type { Token, Tokens } from "marked";
import { codeLine } from "../timeline/approval-lines.ts";
import { safeProse } from "./prose.ts";
import { tableLines } from "./table-lines.ts";
import type { Paint, Terminal } from "./terminal.ts";
import { oneLine, wrapText } from "./text.ts";
import { WordWriter } from "./word-writer.ts";

const maxUrlWidth = 300;

const both =
  (outer: Paint, inner: Paint): Paint =>
  (text) =>
    outer(inner(text));

/** Draws what a parser has found in Markdown. Untrusted text is made safe here; HTML and images are shown as text. */
export class MarkdownBlocks {
  readonly #terminal: Terminal;
  readonly #paint: Paint;
  readonly #writer: WordWriter;
  #isApart = false;
  #codeKind: "command" | "input" | "diff" | "prompt" = "prompt";

  constructor(terminal: Terminal, paint: Paint) {
    this.#terminal = terminal;
    this.#paint = paint;
    this.#writer = new WordWriter(terminal);
  }

  /** An empty line stands before the next block. */
  apart(): void {
    this.#isApart = true;
  }

  end(): boolean {
    this.#writer.flush();
    return this.#writer.started;
  }

  openParagraph(lead = "", hang = lead): void {
    this.#line(lead, hang);
  }

  plain(text: string): void {
    this.#writer.write(safeProse(text), this.#paint);
  }

  inline(tokens: readonly Token[], paint: Paint = this.#paint): void {
    for (const token of tokens) this.#inlineToken(token, paint);
  }

  /** A language whose colours are not known is named. */
  openCode(language: string, indent = ""): void {
    const kind = codeKind(language);
    this.#codeKind = kind ?? "prompt";
    if (kind === undefined && language !== "") {
      this.#exact(`${indent}${this.#terminal.style.dim(oneLine(language, 60))}`);
    }
  }

  codeLine(line: string, indent = ""): void {
    const { style, columns } = this.#terminal;
    const safe = safeProse(line).replaceAll("\t", "    ");
    const shown = `${indent}${style.dim("│")} ${codeLine(this.#codeKind, safe, style)}`.trimEnd();
    this.#exact(wrapText(shown, columns));
  }

  closeCode(): void {
    this.#isApart = false;
  }

  block(token: Token, indent = ""): void {
    this.#block(token, indent);
    this.#writer.flush();
  }

  #block(token: Token, indent: string): void {
    const { style } = this.#terminal;
    switch (token.type) {
      case "heading": {
        const { depth, tokens } = token as Tokens.Heading;
        // Without colours a heading would look like a paragraph.
        const mark = style.bold("x") === "x" ? `${"#".repeat(depth)} ` : "";
        this.#line(`${indent}${mark}`, indent);
        this.inline(tokens, both(this.#paint, style.bold));
        return;
      }
      case "hr":
        this.#exact(style.dim(`${indent}${"─".repeat(20)}`));
        return;
      case "list":
        this.#list(token as Tokens.List, indent);
        return;
      case "blockquote":
        for (const inner of (token as Tokens.Blockquote).tokens)
          this.block(inner, `${indent}${style.dim("┃")} `);
        return;
      case "code": {
        const { text, lang = "" } = token as Tokens.Code;
        this.openCode(lang, indent);
        for (const line of text.split("\n")) this.codeLine(line, indent);
        return;
      }
      case "table":
        this.#table(token as Tokens.Table, indent);
        return;
      case "space":
        this.#isApart = true;
        return;
      default: {
        this.#line(indent, indent);
        const { tokens, raw } = token as Tokens.Generic;
        if (tokens === undefined) this.plain(raw.replace(/\n+$/, ""));
        else this.inline(tokens);
      }
    }
  }

  #line(lead: string, hang: string): void {
    this.#writer.line(this.#isApart, lead, hang);
    this.#isApart = false;
  }

  #exact(shown: string): void {
    this.#line("", "");
    this.#writer.exact(shown);
  }

  #list({ ordered, start, items }: Tokens.List, indent: string): void {
    for (const [index, { tokens, task, checked }] of items.entries()) {
      const mark = ordered ? `${Number(start) + index}.` : "•";
      const box = task ? `${checked === true ? "☑" : "☐"} ` : "";
      const lead = `${indent}${mark} ${box}`;
      const hang = `${indent}${" ".repeat(mark.length + 1)}`;
      let isFirst = true;
      for (const token of tokens) {
        if (token.type === "space" || token.type === "checkbox") continue;
        if (isFirst && (token.type === "text" || token.type === "paragraph")) {
          this.#line(lead, hang);
          this.inline((token as Tokens.Text).tokens ?? [token]);
        } else {
          if (isFirst) this.#exact(lead.trimEnd());
          this.block(token, hang);
        }
        isFirst = false;
      }
      if (isFirst) this.#exact(lead.trimEnd());
    }
  }

  #table({ header, rows }: Tokens.Table, indent: string): void {
    const cell = ({ text }: Tokens.TableCell) => oneLine(text, 200);
    const table = {
      columns: header.map((head) => ({ label: cell(head), isNumeric: head.align === "right" })),
      rows: rows.map((row) => row.map(cell)),
    };
    const { style, columns } = this.#terminal;
    const room = columns === undefined ? undefined : columns - indent.length;
    for (const line of tableLines(table, style, room)) this.#exact(`${indent}${line}`);
  }

  #inlineToken(token: Token, paint: Paint): void {
    const { style } = this.#terminal;
    switch (token.type) {
      case "strong":
        this.inline((token as Tokens.Strong).tokens, both(paint, style.bold));
        return;
      case "em":
        this.inline((token as Tokens.Em).tokens, both(paint, style.italic));
        return;
      case "del":
        this.inline((token as Tokens.Del).tokens, both(paint, style.dim));
        return;
      case "codespan": {
        const { text, raw } = token as Tokens.Codespan;
        const isColoured = style.cyan("x") !== "x";
        this.#writer.write(safeProse(isColoured ? text : raw), both(paint, style.cyan));
        return;
      }
      case "br":
        this.#writer.write("\n", paint);
        return;
      case "link":
      case "image":
        this.#link(token as Tokens.Link | Tokens.Image, paint);
        return;
      default: {
        const { tokens, text, raw } = token as Tokens.Generic;
        if (tokens !== undefined) this.inline(tokens, paint);
        else this.#writer.write(safeProse(token.type === "html" ? raw : String(text ?? raw)), paint);
      }
    }
  }

  /** Where it leads is always said: the words of a link are the model's. */
  #link(link: Tokens.Link | Tokens.Image, paint: Paint): void {
    const { style } = this.#terminal;
    const { href, text } = link;
    if (link.type === "image") this.#writer.write(`[image: ${safeProse(text)}]`, paint);
    else this.inline(link.tokens, both(paint, style.underline));
    const isSaid = text === href || `mailto:${text}` === href || `http://${text}` === href;
    if (!isSaid) this.#writer.write(` (${oneLine(href, maxUrlWidth)})`, both(paint, style.dim));
  }
}
