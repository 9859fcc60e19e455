import { CliError, ExitCode, type HintLine, usageError } from "../cli-error.ts";
import { noteInterruption } from "../interruption.ts";
import { io } from "../io.ts";
import { choose } from "./choose.ts";
import { createTerminal } from "./terminal.ts";
import { formatTime, oneLine } from "./text.ts";

/** One of several that the user may mean. */
export interface Pick {
  readonly id: string;
  /** Untrusted text. */
  readonly title: string;
  readonly updatedAtMs: number;
}

/**
 * Lets the user choose one at the terminal, the first by default; typed text narrows them. Undefined after Esc and Ctrl-C, and where there is none. Throws
 * a usage error without a terminal.
 *
 * @param what how such things are called, such as "thread"
 * @param otherwise what to do without a terminal
 */
export const pickOne = async (
  picks: readonly Pick[],
  what: string,
  otherwise?: HintLine,
): Promise<string | undefined> => {
  const [first] = picks;
  const { stdin, stdout, stderr } = io();
  const output = [stderr, stdout].find(({ isTTY }) => isTTY);
  if (!stdin.isTTY || output === undefined) throw usageError("--resume needs a terminal", otherwise);
  if (first === undefined) return undefined;
  const { columns = 80 } = createTerminal(output);
  const choices = picks.map(({ id, title, updatedAtMs }) => {
    const when = formatTime(updatedAtMs);
    return { value: id, label: `${when}  ${oneLine(title || id, Math.max(20, columns - when.length - 4))}` };
  });
  const chosen = await choose({
    ...{ message: `Which ${what}?`, choices, initial: first.id, output },
    ...{ signal: new AbortController().signal, leave: "choose none", isFiltered: true },
  });
  return typeof chosen === "object" ? chosen.value : undefined;
};

/**
 * The same for `--resume`: throws `cancelled` after Esc and Ctrl-C, and `not_found` where there is none.
 *
 * @param otherwise what to do without a terminal, or where there is none
 */
export const pick = async (picks: readonly Pick[], what: string, otherwise: HintLine): Promise<string> => {
  if (picks.length === 0) throw new CliError("not_found", `There is no ${what} yet`, { hint: otherwise });
  const chosen = await pickOne(picks, what, otherwise);
  if (chosen !== undefined) return chosen;
  noteInterruption();
  throw new CliError("cancelled", "Nothing was selected", { exitCode: ExitCode.interrupted });
};
