import type { Thread } from "@harnesskit/protocol/threads";
import { HarnessError } from "@harnesskit/wire";
import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { noteUnreadable, openStoredThreads, removeThread, unreadableOf } from "./stored-threads.ts";
import { threadRowText } from "./thread-row.ts";

export interface ThreadsPruneOptions {
  readonly cwd: string;
  /** In milliseconds. */
  readonly olderThan: number;
  /** How many of those used last always stay. @default 0 */
  readonly keep?: number;
  readonly dryRun?: true;
  readonly json?: true;
}

/**
 * `harness threads prune`: removes the threads that were last used before an age. Those that a server writes are left
 * alone and named; what cannot be removed is named too, and the exit code is 1.
 */
export const pruneThreads = async (options: ThreadsPruneOptions): Promise<ExitCode> => {
  const { cwd, keep = 0, dryRun = false, json } = options;
  const before = io().clock.now() - options.olderThan;
  const stored = await openStoredThreads(cwd);
  const isYoung = ({ time }: Thread) => time.updated >= before;
  const listed = await stored.store.list();
  const old = listed.slice(keep).filter((thread) => !isYoung(thread));
  const terminal = createTerminal();
  const ids = listed.map(({ threadId }) => threadId);
  const removed: string[] = [];
  const locked: string[] = [];
  const failed: string[] = [];
  for (const { threadId, title, time } of old) {
    const outcome = dryRun ? "removed" : await orFailed(removeThread(stored, threadId, isYoung));
    if (outcome === "removed") removed.push(threadId);
    if (outcome === "locked") locked.push(threadId);
    if (outcome === "failed") failed.push(threadId);
    if (json || outcome === "kept" || outcome === "gone") continue;
    const what = { removed: dryRun ? "would remove" : "removed", locked: "in use, left", failed: "failed" }[
      outcome
    ];
    const row = { id: threadId, title, updatedAtMs: time.updated, state: what };
    terminal.say(threadRowText(row, ids, terminal));
    await terminal.ready();
  }
  const stuck = failed.length > 0 ? { failed } : {};
  if (json) terminal.json({ dryRun, removed, locked, ...stuck, ...unreadableOf(stored) });
  else {
    terminal.say(verdict({ removed: removed.length, locked: locked.length, failed: failed.length }, dryRun));
    noteUnreadable(stored);
  }
  return failed.length === 0 ? ExitCode.done : ExitCode.failed;
};

const orFailed = async <T>(removing: Promise<T>): Promise<T | "failed"> => {
  try {
    return await removing;
  } catch (error) {
    if (HarnessError.isInstance(error)) return "failed";
    throw error;
  }
};

interface Counts {
  readonly removed: number;
  readonly locked: number;
  readonly failed: number;
}

const verdict = ({ removed, locked, failed }: Counts, dryRun: boolean): string => {
  const threads = `${removed} ${removed === 1 ? "thread" : "threads"}`;
  const skipped =
    locked === 0 ? "" : `, ${locked} in use and left alone (to find the server: harness doctor)`;
  const stuck = failed === 0 ? "" : `, ${failed} that cannot be removed (to see why: harness doctor)`;
  return `${threads} ${dryRun ? "would be removed" : "removed"}${skipped}${stuck}`;
};
