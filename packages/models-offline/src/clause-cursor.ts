import { findQuotedSpans, type QuotedSpan } from "./quoted-spans.ts";

/** Where a part of a request asks to look: a directory, or the whole workspace. */
export interface Place {
  readonly directory?: string;
}

const wholeWorkspace =
  /\s*(?:this|the|all the|all of the|all|my)\s+(?:(?:current|whole|entire)\s+)?(?:repo|repository|project|codebase|code|workspace|files|directory|folder|root)\b(?=\s*(?:$|[,;.!?]|and\b|then\b))/iy;

/** Reads one part of a request from left to right. Quoted pieces are taken as they are. */
export class ClauseCursor {
  readonly text: string;
  readonly #spans: readonly QuotedSpan[];
  #at = 0;

  constructor(text: string) {
    this.text = text;
    this.#spans = findQuotedSpans(text);
  }

  get at(): number {
    return this.#at;
  }

  get rest(): string {
    return this.text.slice(this.#at);
  }

  /** Steps over a sticky pattern. */
  skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** Takes a quoted piece that stands here, after spaces. */
  quoted(): string | undefined {
    const start = this.#at + this.rest.length - this.rest.trimStart().length;
    const span = this.#spans.find((candidate) => candidate.start === start);
    if (span === undefined) return undefined;
    this.#at = span.end;
    return span.inner;
  }

  /** Takes a path: quoted, or a word without the punctuation that ends it. */
  path(): string | undefined {
    const inner = this.quoted();
    if (inner !== undefined) return inner === "" ? undefined : inner;
    const word = /^\s*([^\s,;"`]+)/.exec(this.rest);
    if (word?.[1] === undefined) return undefined;
    const path = word[1].replace(/(?<=[\w)\]])[.:!?]+$/, "");
    this.#at += word[0].length - (word[1].length - path.length);
    return path;
  }

  /** Takes a directory, or words for the whole workspace, after "in" was read. */
  place(): Place | undefined {
    if (this.skip(wholeWorkspace)) return {};
    if (!this.skip(/\s*(?:the\s+)?(?:directory|folder)\s+/iy)) this.skip(/\s*the\s+/iy);
    const directory = this.path();
    if (directory === undefined) return undefined;
    this.skip(/\s+(?:directory|folder)\b/iy);
    return { directory };
  }

  /** Takes all that is left, or the inside of a quoted piece behind which the instruction ends. */
  remainder(): string {
    const before = this.#at;
    const inner = this.quoted();
    if (inner !== undefined && /^\s*(?:[.!?]?\s*$|,|\n|(?:and|then)\b)/i.test(this.rest)) return inner;
    this.#at = this.text.length;
    return this.text.slice(before).trim();
  }

  /** Where the word stands outside quoted pieces, from here on. */
  occurrences(word: RegExp): { start: number; end: number }[] {
    return [...this.rest.matchAll(word)]
      .map((match) => ({ start: this.#at + match.index, end: this.#at + match.index + match[0].length }))
      .filter(({ start }) => !this.#spans.some((span) => start >= span.start && start < span.end));
  }

  moveTo(at: number): void {
    this.#at = at;
  }
}
