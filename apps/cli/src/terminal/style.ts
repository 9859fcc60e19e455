import { randomInt } from "node:crypto";
import { inspect } from "node:util";
import { displayText } from "@harnesskit/wire";

/** Adds colour to a string, or leaves it as it is. */
export type Paint = (text: string) => string;

const styles = ["bold", "dim", "italic", "underline", "red", "green", "yellow", "cyan"] as const;

/**
 * How text is coloured. Its codes carry a number that is drawn once for this process: text from elsewhere cannot have it, so that a
 * terminal knows our styles from codes that a model, a file or a server wrote.
 */
export type Style = Readonly<Record<(typeof styles)[number], Paint>>;

const esc = "\u001b";
// What measures text takes a code with numbers of four digits for one without a width.
const secret = [1, 2, 3].map(() => `${randomInt(1_000, 10_000)};`).join("");

const mark = (code: number): string => `${esc}[${secret}${code}m`;

const paint = (style: (typeof styles)[number]): Paint => {
  const [open, close] = (inspect.colors[style] ?? [0, 0]).map(mark);
  return (text) => (text === "" ? "" : `${open}${text}${close}`);
};

/** The styles of a stream: colours on a terminal that wants them, nothing elsewhere. */
export const createStyle = (isColoured: boolean): Style =>
  Object.fromEntries(
    styles.map((style) => [style, isColoured ? paint(style) : (text: string) => text]),
  ) as Style;

/** True for a terminal, unless `NO_COLOR` is set to something or the terminal can do nothing. */
export const wantsColour = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean =>
  stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";

/** A style of ours, or a character that a terminal obeys or does not show. A joiner belongs to emojis, and does nothing elsewhere. */
const obeyed = new RegExp(
  `(${esc}\\[${secret}\\d+m)|(?![\\n\\t\\u200d]|\\r\\n)[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]`,
  "gu",
);

/** Shows what in a text could say something to a terminal (`⟨U+001B⟩`), but for line ends, tabs and our styles. Idempotent. */
export const harmless = (text: string): string =>
  text.replace(obeyed, (found, style: string | undefined) => style ?? displayText(found));

const marks = new RegExp(`${esc}\\[${secret}(\\d+)m`, "g");
const codes = new RegExp(`${esc}\\[(\\d+)m`, "g");

/** Harmless text with the codes that a terminal knows in the place of our styles, or without styles. */
export const toCodes = (text: string, isColoured: boolean): string =>
  text.replace(marks, isColoured ? `${esc}[$1m` : "");

/** The inverse, for text of which each code is known to be ours. */
export const fromCodes = (text: string): string => text.replace(codes, (_, code) => mark(Number(code)));

const cutMark = new RegExp(`${esc}(?:\\[[\\d;]*)?$`);

/** The first characters of a text, with its styles ended where it is cut. */
export const cutStyled = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength).replace(cutMark, "")}…${text.includes(esc) ? mark(0) : ""}`;
};
