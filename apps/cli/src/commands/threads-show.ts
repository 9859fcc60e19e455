import { openStoredThreads } from "../stored-threads.ts";
import { formatTime } from "../terminal/duration.ts";
import { oneLine } from "../terminal/one-line.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { Timeline } from "../timeline/timeline.ts";
import { logFile } from "../workspace-directory.ts";

export interface ThreadsShowOptions {
  readonly cwd: string;
}

/** `harness threads show`: the timeline of a stored thread. */
export const showThread = async (threadId: string, { cwd }: ThreadsShowOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const { title, directory, time } = await stored.get(threadId);
  const terminal = createTerminal();
  const { style } = terminal;
  const write = (text: string) => terminal.write(wrapText(text, terminal.columns));
  write(`${style.bold(oneLine(title))}\n`);
  write(style.dim(`${oneLine(threadId)} · ${formatTime(time.created)} · ${oneLine(directory)}\n\n`));
  const timeline = new Timeline({ terminal });
  let openTurn = false;
  for await (const event of stored.events(threadId)) {
    if (event.type === "turn.started") openTurn = true;
    if (event.type === "turn.completed" || event.type === "turn.error") openTurn = false;
    timeline.show(event);
    await terminal.ready();
  }
  timeline.breakLine();
  if (openTurn)
    terminal.write(style.yellow("\n… the last turn has no end: it runs, or it waits for an answer\n"));
  write(style.dim(`\nlog  ${oneLine(logFile(stored.workspace, threadId), 1000)}\n`));
};
