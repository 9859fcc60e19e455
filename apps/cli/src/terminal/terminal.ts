import { once } from "node:events";
import { inspect } from "node:util";
import { displayText } from "@harnesskit/wire";
import { io } from "../io.ts";
import { wrapText } from "./text.ts";

/** Adds colour to a string, or leaves it as it is. */
export type Paint = (text: string) => string;

const styles = ["bold", "dim", "italic", "underline", "red", "green", "yellow", "cyan"] as const;

export type Style = Readonly<Record<(typeof styles)[number], Paint>>;

const paint = (style: (typeof styles)[number]): Paint => {
  const [open, close] = inspect.colors[style] ?? [];
  return (text) => (text === "" ? "" : `\u001b[${open}m${text}\u001b[${close}m`);
};

/** The styles of a stream: colours on a terminal that wants them, nothing elsewhere. */
export const createStyle = (isColoured: boolean): Style =>
  Object.fromEntries(
    styles.map((style) => [style, isColoured ? paint(style) : (text: string) => text]),
  ) as Style;

/** True for a terminal, unless `NO_COLOR` is set to something or the terminal can do nothing. */
export const wantsColour = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean =>
  stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";

/** Where a command writes what people read. */
export interface Terminal {
  readonly style: Style;
  readonly columns: number | undefined;
  /**
   * Writes text. Whatever in it could move the cursor, hide something or turn it around is shown instead (`⟨U+001B⟩`), but for line ends, tabs and the styles of
   * {@link Style}: text that a command forgot to escape says nothing to the terminal. JSON and text that is escaped already pass as they are.
   */
  write(text: string): void;
  /** Takes back so many lines that were written last. */
  takeBack(lines: number): void;
  ready(): Promise<void>;
}

/** Gives a terminal that reports no size, such as a new pseudo-terminal, the usual one: libraries draw one letter a line there. */
export const assumeSize = (stream: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "rows">): void => {
  if (!stream.isTTY || stream.columns > 0) return;
  stream.columns = 80;
  stream.rows ||= 24;
};

const esc = String.fromCharCode(0x1b);
const styleCodes = [...new Set(styles.flatMap((style) => inspect.colors[style] ?? []))].join("|");
/** A style of ours, or a character that a terminal obeys or does not show. A joiner belongs to emojis, and does nothing elsewhere. */
const obeyed = new RegExp(
  `(${esc}\\[(?:${styleCodes})m)|(?![\\n\\t\\u200d]|\\r\\n)[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]`,
  "gu",
);

const harmless = (text: string): string =>
  text.replace(obeyed, (found, style: string | undefined) => style ?? displayText(found));

const maxColumns = 100;
const minColumns = 20;

/** The terminal behind a stream of this process. */
export const createTerminal = (
  stream: NodeJS.WriteStream = io().stdout,
  env: NodeJS.ProcessEnv = io().env,
): Terminal => ({
  style: createStyle(wantsColour(stream, env)),
  get columns() {
    if (!stream.isTTY) return undefined;
    return Math.max(minColumns, Math.min(maxColumns, stream.columns || 80));
  },
  write(text) {
    stream.write(harmless(text));
  },
  takeBack(lines) {
    stream.write(`\r${esc}[${lines}A${esc}[J`);
  },
  async ready() {
    if (stream.writableNeedDrain && !stream.destroyed) await once(stream, "drain").catch(() => {});
  },
});

/** Writes a line of safe text to stderr; at a terminal it is broken between words. */
export const note = (line: string): void => {
  const terminal = createTerminal(io().stderr);
  terminal.write(wrapText(`${line}\n`, terminal.columns));
};
