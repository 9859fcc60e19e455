/** A quoted piece of a string: `start` is its opening mark, `end` is after its closing mark. */
export interface QuotedSpan {
  readonly start: number;
  readonly end: number;
  /** What stands between the marks, exactly. */
  readonly inner: string;
}

const closingMarks: Readonly<Record<string, string>> = {
  "`": "`",
  '"': '"',
  "'": "'",
  "\u201c": "\u201d",
  "\u2018": "\u2019",
};

/**
 * Finds quoted pieces from left to right: fenced blocks, backticks, straight and curly quotation marks. There are
 * no escapes. A single quotation mark opens only after a space or punctuation and closes only before one, so
 * an apostrophe does not open one. A mark without its partner is an ordinary character. Linear in the string's length.
 */
export function findQuotedSpans(text: string): QuotedSpan[] {
  const spans: QuotedSpan[] = [];
  const unclosed = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const span = spanAt(text, at, unclosed);
    if (span !== undefined) spans.push(span);
    at = span?.end ?? at + 1;
  }
  return spans;
}

/** `unclosed` remembers the marks without a partner in the rest of the string. */
function spanAt(text: string, start: number, unclosed: Set<string>): QuotedSpan | undefined {
  const opening = text.charAt(start);
  const closing = closingMarks[opening];
  if (closing === undefined) return undefined;
  if (opening === "`" && text.startsWith("```", start) && !unclosed.has("```")) {
    const close = text.indexOf("```", start + 3);
    if (close >= 0) return { start, end: close + 3, inner: fenceContent(text.slice(start + 3, close)) };
    unclosed.add("```");
  }
  if (unclosed.has(opening)) return undefined;
  const single = closing === "'" || closing === "\u2019";
  if (single && start > 0 && !/[\s:=([{,]/.test(text.charAt(start - 1))) return undefined;
  let close = text.indexOf(closing, start + 1);
  while (single && close >= 0 && !/^[\s.,;:!?)\]}]?$/.test(text.charAt(close + 1))) {
    close = text.indexOf(closing, close + 1);
  }
  if (close < 0) {
    unclosed.add(opening);
    return undefined;
  }
  return { start, end: close + 1, inner: text.slice(start + 1, close) };
}

/** A fence's first line may name a language; the line breaks next to the fences belong to them. */
function fenceContent(between: string): string {
  const firstLine = /^[\w+.-]*[ \t]*\r?\n/.exec(between);
  return firstLine === null ? between : between.slice(firstLine[0].length).replace(/\r?\n$/, "");
}
