import { noteUnreadable, openStoredThreads, unreadableOf } from "../stored-threads.ts";
import { formatTime } from "../terminal/duration.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";

export interface ThreadsListOptions {
  readonly cwd: string;
  readonly json?: true;
}

/** `harness threads list`: the threads below a directory, the one used last first. */
export const listThreads = async ({ cwd, json }: ThreadsListOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const threads = await stored.list();
  const terminal = createTerminal();
  if (json) {
    terminal.write(`${safeJson({ threads, ...unreadableOf(stored) })}\n`);
    return;
  }
  noteUnreadable(stored);
  const { style, columns } = terminal;
  if (threads.length === 0) {
    terminal.write(`No threads in ${oneLine(stored.workspace)}. Begin one: harness run "PROMPT"\n`);
    return;
  }
  const room = columns === undefined ? 100 : Math.max(20, columns - 56);
  for (const { threadId, title, time } of threads) {
    const when = style.dim(formatTime(time.updated));
    terminal.write(
      `${wrapText(`${oneLine(threadId, 80)}  ${when}  ${oneLine(title, room)}`, columns, "  ")}\n`,
    );
    await terminal.ready();
  }
};
