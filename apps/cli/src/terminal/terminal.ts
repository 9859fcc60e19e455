import { once } from "node:events";
import { io } from "../io.ts";
import { createStyle, cutStyled, harmless, type Style, toCodes, wantsColour } from "./style.ts";
import { safeJson, wrapText } from "./text.ts";

export { createStyle, type Paint, type Style, wantsColour } from "./style.ts";

/** Where a command writes what people read. */
export interface Terminal {
  readonly style: Style;
  readonly columns: number | undefined;
  /**
   * Writes lines of text that may be anyone's: a line end in one is shown as `⏎`. At a terminal a line is broken between words; `hang` begins what follows.
   * Returns how many rows they take.
   */
  say(lines: string | readonly string[], hang?: string): number;
  /** The same, never broken: a command or a path to be copied. */
  exact(lines: string | readonly string[]): void;
  /** Writes a value as one line of JSON. */
  json(value: unknown): void;
  /**
   * Writes text of several lines. Whatever in it could move the cursor, hide something or turn it around is shown instead (`⟨U+001B⟩`), but for line ends, tabs and the styles of
   * {@link Style}: text that a command forgot to escape says nothing to the terminal, and has no colour. JSON and text that is escaped already pass as they are.
   */
  write(text: string): void;
  /** Takes back so many lines that were written last; on a dumb terminal they stay. */
  takeBack(lines: number): void;
  ready(): Promise<void>;
}

/** Gives a terminal that reports no size, such as a new pseudo-terminal, the usual one: libraries draw one letter a line there. */
export const assumeSize = (stream: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "rows">): void => {
  if (!stream.isTTY || stream.columns > 0) return;
  stream.columns = 80;
  stream.rows ||= 24;
};

const maxLineLength = 4_000;

/** Text as one line: it cannot look like two lines of ours. */
const asLine = (text: string): string => cutStyled(text.replace(/\r?\n/g, "⏎ "), maxLineLength);

const maxColumns = 100;
const minColumns = 20;

/** A terminal by how it writes; what it is given is harmless. */
export abstract class TextTerminal implements Terminal {
  abstract readonly style: Style;
  abstract readonly columns: number | undefined;
  abstract takeBack(lines: number): void;
  abstract ready(): Promise<void>;
  protected abstract put(text: string): void;

  say(lines: string | readonly string[], hang?: string): number {
    const rows = [lines].flat().flatMap((line) => wrapText(asLine(line), this.columns, hang).split("\n"));
    this.write(rows.map((row) => `${row}\n`).join(""));
    return rows.length;
  }

  exact(lines: string | readonly string[]): void {
    for (const line of [lines].flat()) this.write(`${asLine(line)}\n`);
  }

  json(value: unknown): void {
    this.write(`${safeJson(value)}\n`);
  }

  write(text: string): void {
    this.put(toCodes(harmless(text), this.style.bold("x") !== "x"));
  }
}

class StreamTerminal extends TextTerminal {
  readonly style: Style;
  readonly #stream: NodeJS.WriteStream;
  readonly #isDumb: boolean;

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    super();
    this.#isDumb = env.TERM === "dumb";
    this.#stream = stream;
    this.style = createStyle(wantsColour(stream, env));
  }

  get columns(): number | undefined {
    if (!this.#stream.isTTY) return undefined;
    return Math.max(minColumns, Math.min(maxColumns, this.#stream.columns || 80));
  }

  protected put(text: string): void {
    this.#stream.write(text);
  }

  takeBack(lines: number): void {
    if (!this.#isDumb) this.#stream.write(`\r\u001b[${lines}A\u001b[J`);
  }

  async ready(): Promise<void> {
    const stream = this.#stream;
    if (stream.writableNeedDrain && !stream.destroyed) await once(stream, "drain").catch(() => {});
  }
}

/** The terminal behind a stream of this process. */
export const createTerminal = (
  stream: NodeJS.WriteStream = io().stdout,
  env: NodeJS.ProcessEnv = io().env,
): Terminal => new StreamTerminal(stream, env);

/** Writes the result of a command to stdout: one line of JSON where `json` is set, otherwise the lines that `toText` makes of it. */
export const emit = <T>(
  json: boolean | undefined,
  value: T,
  toText: (value: T, style: Style) => string | readonly string[],
): void => {
  const terminal = createTerminal();
  if (json) terminal.json(value);
  else terminal.say(toText(value, terminal.style));
};

/** Writes a line to stderr. */
export const note = (line: string): void => void createTerminal(io().stderr).say(line);
