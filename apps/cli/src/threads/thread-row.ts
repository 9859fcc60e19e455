import stringWidth from "fast-string-width";
import type { Terminal } from "../terminal/terminal.ts";
import { formatTime, oneLine } from "../terminal/text.ts";

/** A thread or a conversation in a list. */
export interface ThreadRow {
  readonly id: string;
  /** Untrusted text. */
  readonly title: string;
  readonly updatedAtMs: number;
  /** How it stands, as safe text. @default nothing is said */
  readonly state?: string | undefined;
}

const shortLength = 8;
const minTitle = 10;

/** The id as far as a command needs it: its first eight characters, or all of it where another one begins so. */
export const shortId = (id: string, ids: readonly string[]): string => {
  const [kind = ""] = /^(?:ses|chat)_/.exec(id) ?? [];
  const short = id.slice(0, kind.length + shortLength);
  if (kind === "" || ids.filter((other) => other.startsWith(short)).length > 1) return id;
  // `chat --session` takes the beginning of an id only with its kind.
  return kind === "ses_" ? short.slice(kind.length) : short;
};

/** One row of a list: on a terminal one line, with a short id and the title cut to what is left; elsewhere whole. */
export const threadRowText = (
  { id, title, updatedAtMs, state }: ThreadRow,
  ids: readonly string[],
  { style, columns }: Pick<Terminal, "style" | "columns">,
): string => {
  const shown = oneLine(columns === undefined ? id : shortId(id, ids), 80);
  const when = formatTime(updatedAtMs);
  const said = state === undefined ? "" : `  ${state}`;
  const taken = stringWidth(`${shown}  ${when}${said}  `);
  const room = columns === undefined ? 100 : Math.max(minTitle, columns - taken);
  return `${shown}  ${style.dim(when)}${said}  ${oneLine(title, room)}`;
};
