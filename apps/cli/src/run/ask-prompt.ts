import { CliError, ExitCode } from "../cli-error.ts";
import { noteInterruption } from "../interruption.ts";
import { io } from "../io.ts";
import { completeLine } from "../terminal/complete-line.ts";
import { LineHistory } from "../terminal/line-history.ts";
import { LineReader } from "../terminal/line-reader.ts";
import { note } from "../terminal/terminal.ts";

/** Whether the user can be asked what to do. */
export const canAskPrompt = (): boolean => io().stdin.isTTY === true && io().stdout.isTTY === true;

/**
 * Asks the user at the terminal what to do, as a conversation does: with its history, and `@FILE` completed. Rejects with a `CliError` `cancelled` after
 * Ctrl-C, and at the end of the input.
 */
export const askPrompt = async (directory: string): Promise<string> => {
  note("What to do? Enter sends it; Alt+Enter begins another line; Ctrl-C leaves.");
  const history = new LineHistory();
  await history.load();
  const reader = new LineReader({
    onInterrupt: () => reader.close(),
    history,
    complete: (line) => completeLine(line, { commands: [], ids: () => [], directory }),
  });
  try {
    for (;;) {
      const prompt = await reader.next();
      if (prompt === undefined) {
        noteInterruption();
        throw new CliError("cancelled", "No prompt was entered", { exitCode: ExitCode.interrupted });
      }
      if (prompt.trim() !== "") return prompt.trim();
    }
  } finally {
    reader.close();
    await history.saved();
  }
};
