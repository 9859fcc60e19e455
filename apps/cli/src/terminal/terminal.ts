import { once } from "node:events";
import { createStyle, type Style, wantsColour } from "./style.ts";

/** Where a command writes what people read. */
export interface Terminal {
  readonly style: Style;
  /** Columns of a terminal; undefined for a file or a pipe, where nothing is cut or wrapped. */
  readonly columns: number | undefined;
  write(text: string): void;
  /** Settles when the reader has taken enough to go on. */
  ready(): Promise<void>;
}

const maxColumns = 100;
const minColumns = 20;

/** The terminal behind a stream of this process. */
export const createTerminal = (
  stream: NodeJS.WriteStream = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): Terminal => ({
  style: createStyle(wantsColour(stream, env)),
  get columns() {
    if (!stream.isTTY) return undefined;
    return Math.max(minColumns, Math.min(maxColumns, stream.columns || 80));
  },
  write(text) {
    stream.write(text);
  },
  async ready() {
    if (stream.writableNeedDrain && !stream.destroyed) await once(stream, "drain").catch(() => {});
  },
});
