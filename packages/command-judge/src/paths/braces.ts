import { maxFields } from "../limits.ts";

/** Where a quoted or substituted stretch that begins at `at` ends; `at` where none begins. */
const skipQuoted = (text: string, at: number): number => {
  const char = text[at];
  if (char === "\\") return Math.min(at + 2, text.length);
  if (char === "'" || char === '"' || char === "`") {
    for (let end = at + 1; end < text.length; end++) {
      if (text[end] === "\\" && char !== "'") end++;
      else if (text[end] === char) return end + 1;
    }
    return text.length;
  }
  const open = text[at + 1];
  if (char !== "$" || (open !== "{" && open !== "(")) return at;
  const close = open === "{" ? "}" : ")";
  let depth = 0;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === open) depth++;
    else if (text[end] === close && --depth === 0) return end + 1;
  }
  return text.length;
};

interface Braces {
  readonly open: number;
  readonly close: number;
  readonly commas: readonly number[];
}

/** The first pair of braces that is an expansion. */
const firstBraces = (text: string): Braces | undefined => {
  const stack: { open: number; commas: number[] }[] = [];
  let found: Braces | undefined;
  for (let at = 0; at < text.length; at++) {
    const next = skipQuoted(text, at);
    if (next > at) {
      at = next - 1;
      continue;
    }
    const top = stack.at(-1);
    if (text[at] === "{") stack.push({ open: at, commas: [] });
    else if (text[at] === "," && top !== undefined) top.commas.push(at);
    else if (text[at] === "}" && top !== undefined) {
      stack.pop();
      const range = /^[^{},]+\.\.[^{},]+$/.test(text.slice(top.open + 1, at));
      if ((top.commas.length > 0 || range) && (found === undefined || top.open < found.open))
        found = { open: top.open, close: at, commas: top.commas };
    }
  }
  return found;
};

const numbers = (from: number, to: number, step: number): number[] | undefined => {
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (count > maxFields) return undefined;
  return Array.from({ length: count }, (_, index) => from + index * step * (to < from ? -1 : 1));
};

/** `1..5`, `a..e..2`; undefined for anything else, and for one that is too long. */
const rangeOf = (text: string): string[] | undefined => {
  const [, from = "", to = "", by = "1"] =
    /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?(\d+))?$/.exec(text) ?? [];
  const step = Math.max(1, Number(by));
  if (/\d/.test(from) && /\d/.test(to)) return numbers(Number(from), Number(to), step)?.map(String);
  if (from === "" || /\d/.test(from + to)) return undefined;
  const codes = numbers(from.charCodeAt(0), to.charCodeAt(0), step);
  return codes?.map((code) => String.fromCharCode(code));
};

/**
 * The words that the braces of an unparsed word make, as bash does it before anything else: `{a,b}c` is `ac` and `bc`.
 * Undefined where they would be more than 256.
 */
export const expandBraces = (word: string): readonly string[] | undefined => {
  const done: string[] = [];
  const open = [word];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const braces = firstBraces(next);
    if (braces === undefined) {
      done.push(next);
    } else {
      const inner = next.slice(braces.open + 1, braces.close);
      const cuts = [braces.open, ...braces.commas, braces.close];
      const source = next;
      const choices =
        braces.commas.length === 0
          ? rangeOf(inner)
          : cuts.slice(1).map((cut, index) => source.slice((cuts[index] ?? 0) + 1, cut));
      // An invalid range stays as it is.
      if (choices === undefined && /^-?\d+\.\./.test(inner)) return undefined;
      const before = next.slice(0, braces.open);
      const after = next.slice(braces.close + 1);
      if (choices === undefined) done.push(next);
      else open.unshift(...choices.map((choice) => before + choice + after));
    }
    if (done.length + open.length > maxFields) return undefined;
  }
  return done;
};
