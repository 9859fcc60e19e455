/** The same piece of a pattern for ripgrep and for JavaScript. */
export interface Both {
  readonly ripgrep: string;
  readonly javascript: string;
  /** The code point, if the piece is one character. */
  readonly code?: number;
}

/** A piece that both engines write alike. */
export const both = (text: string): Both => ({ ripgrep: text, javascript: text });

const wordClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const word = `[${wordClass}]`;

/** A word boundary. Its opposite is left out: between CR and LF, ripgrep finds one where there is no text. */
export const wordBoundary: Both = {
  ripgrep: "\\b",
  javascript: `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`,
};

// JavaScript's own \d and \w know ASCII only, ripgrep's know Unicode.
const shorthands: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  w: word,
  W: `[^${wordClass}]`,
  s: "\\p{White_Space}",
  S: "\\P{White_Space}",
};

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/**
 * A class as ripgrep takes it: with `--crlf` none has the CR, and none has bytes that are no UTF-8, in whose place JavaScript sees
 * U+FFFD.
 */
export const asInRipgrep = (javascript: string): string => `[${javascript}--[\\r\\ufffd]]`;

/** One character that stands for itself; a reason if a pattern cannot hold it. */
export function literal(code: number): Both | string {
  if (code === 10 || code === 13) return "contains a line end, but is matched within single lines";
  if (code === 0xfffd) return "contains U+FFFD, which stands for bytes that are no text";
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return "contains what is no character";
  const character = String.fromCodePoint(code);
  if (code > 0x7f || /[A-Za-z0-9_]/.test(character)) return { ...both(character), code };
  // Escaped by number, nothing can be taken for syntax by either engine.
  return { ...both(`\\x${code.toString(16).padStart(2, "0")}`), code };
}

/**
 * What follows a backslash, in or outside of brackets, and how many characters of it belong together;
 * a reason if it is nothing that both engines know.
 */
export function classEscape(rest: string): { term: Both; length: number } | string {
  const next = rest[0];
  if (next === undefined) return "ends with a backslash";
  const shorthand = shorthands[next];
  if (shorthand !== undefined) return { term: { ripgrep: `\\${next}`, javascript: shorthand }, length: 1 };
  const control = controls[next];
  if (control !== undefined) return withLength(literal(control), 1);
  const number = /^(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|[xu]\{([0-9A-Fa-f]{1,6})\})/.exec(rest);
  if (number !== null)
    return withLength(
      literal(Number.parseInt(number[1] ?? number[2] ?? number[3] ?? "", 16)),
      number[0].length,
    );
  const category = /^[pP]\{(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?)\}/.exec(rest);
  if (category !== null) return { term: both(`\\${category[0]}`), length: category[0].length };
  if (/[0-9k]/.test(next)) return "uses a back-reference, which is not supported";
  if (/[A-Za-z]/.test(next)) return `uses \\${next}, which is not supported`;
  const code = rest.codePointAt(0) ?? 0;
  return withLength(literal(code), 1);
}

const withLength = (found: Both | string, length: number): { term: Both; length: number } | string =>
  typeof found === "string" ? found : { term: found, length };
