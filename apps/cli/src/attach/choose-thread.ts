import type { Thread, ThreadClient } from "@harnesskit/thread-client";
import { CliError } from "../cli-error.ts";
import { formatTime } from "../terminal/duration.ts";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** How many threads are listed. */
const maxListed = 10;

/**
 * The thread that a server used last. Where it has several, they are listed on `terminal`. Rejects with a `CliError`
 * `thread_not_found` where there is none.
 */
export const chooseThread = async (
  client: ThreadClient,
  endpoint: string,
  terminal: Terminal | undefined,
  signal: AbortSignal,
): Promise<string> => {
  const threads: Thread[] = [];
  for await (const thread of client.allThreads({ signal })) if (threads.push(thread) > maxListed) break;
  const [last] = threads;
  const place = oneLine(shellWord(endpoint), 1000);
  if (!last) {
    throw new CliError("thread_not_found", "The server has no thread yet", {
      hint: `Begin one: harness run --attach ${place} "PROMPT"`,
    });
  }
  if (threads.length === 1 || !terminal) return last.threadId;
  const { style } = terminal;
  for (const { threadId, title, time } of threads.slice(0, maxListed)) {
    const when = style.dim(formatTime(time.updated));
    const sign = threadId === last.threadId ? style.cyan("›") : " ";
    const text = `${sign} ${oneLine(threadId, 80)}  ${when}  ${oneLine(title, 80)}\n`;
    terminal.write(wrapText(text, terminal.columns, "  "));
  }
  const more = threads.length > maxListed ? "and more; " : "";
  const note = `${more}the one used last follows, another with --thread ID\n\n`;
  terminal.write(style.dim(wrapText(note, terminal.columns)));
  return last.threadId;
};
