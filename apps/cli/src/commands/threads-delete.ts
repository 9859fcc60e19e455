import { CliError } from "../cli-error.ts";
import { openStoredThreads, threadNotFound } from "../stored-threads.ts";
import { oneLine } from "../terminal/one-line.ts";
import { createTerminal } from "../terminal/terminal.ts";

export interface ThreadsDeleteOptions {
  readonly cwd: string;
}

/** `harness threads delete`: removes a thread with what belongs to it. Throws where a server writes it. */
export const deleteThread = async (threadId: string, { cwd }: ThreadsDeleteOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const outcome = await stored.remove(threadId);
  if (outcome === "gone") throw threadNotFound(threadId, stored.workspace);
  const shown = oneLine(threadId, 80);
  if (outcome === "locked") {
    throw new CliError("thread_locked", `${shown} is in use: a server writes it`, {
      hint: "End that server first. Who it is: harness doctor",
    });
  }
  createTerminal().write(`Removed ${shown} with its log, artifacts and grants\n`);
};
