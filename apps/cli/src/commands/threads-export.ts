import { openStoredThreads } from "../stored-threads.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal } from "../terminal/terminal.ts";

export interface ThreadsExportOptions {
  readonly cwd: string;
  readonly json?: true;
}

/** `harness threads export`: the events as JSON lines, or with `--json` one document `{ thread, events }`. */
export const exportThread = async (threadId: string, { cwd, json }: ThreadsExportOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const thread = await stored.get(threadId);
  const terminal = createTerminal();
  if (json) terminal.write(`{"thread":${safeJson(thread)},"events":[`);
  let isFirst = true;
  for await (const event of stored.events(threadId)) {
    const line = safeJson(event);
    terminal.write(json ? `${isFirst ? "" : ","}\n${line}` : `${line}\n`);
    isFirst = false;
    await terminal.ready();
  }
  if (json) terminal.write("\n]}\n");
};
