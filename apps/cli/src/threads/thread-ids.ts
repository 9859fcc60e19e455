import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ThreadClient } from "@harnesskit/thread-client";
import { CliError } from "../cli-error.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { pick } from "../terminal/pick.ts";
import { harnessDirectory } from "../workspace-directory.ts";
import { storedThreadsIn } from "./stored-threads.ts";

const wholeId = /^ses_[0-9a-f]{32}$/;
const maxPicked = 50;
const maxRead = 10_000;

/** The thread of a directory whose id begins so; see `idWithPrefix`. Takes no lock and reads no thread. */
export const storedThreadId = async (workspace: string, given: string): Promise<string> => {
  if (wholeId.test(given)) return given;
  return idWithPrefix(given, await readdir(join(harnessDirectory(workspace), "threads")).catch(() => []));
};

/** The same for a thread of a server that runs. */
export const servedThreadId = async (
  client: ThreadClient,
  given: string,
  signal?: AbortSignal,
): Promise<string> => {
  if (wholeId.test(given)) return given;
  const ids: string[] = [];
  for await (const { threadId } of client.allThreads({ signal })) if (ids.push(threadId) >= maxRead) break;
  return idWithPrefix(given, ids);
};

export interface ThreadChoice {
  /** Its id, or how that begins. */
  readonly thread?: string;
  /** The one used last. */
  readonly continue?: true;
  /** The user chooses one at the terminal. */
  readonly resume?: true;
}

/**
 * The thread of a directory that the options of a command name; undefined for a new one. Rejects with a usage error, and with a `CliError` `not_found`
 * where there is none to go on with.
 */
export const chosenThread = async (
  { thread, continue: goesOn, resume }: ThreadChoice,
  workspace: string,
): Promise<string | undefined> => {
  if (thread !== undefined) return storedThreadId(workspace, thread);
  if (!goesOn && !resume) return undefined;
  const threads = await storedThreadsIn(workspace).store.list();
  const open = threads.filter(({ time }) => time.archived === undefined);
  const begin = { to: "Begin one", run: 'harness run "PROMPT"' };
  if (resume) {
    const picks = open.slice(0, maxPicked).map(({ threadId: id, title, time }) => ({
      ...{ id, title, updatedAtMs: time.updated },
    }));
    return pick(picks, "thread", open.length === 0 ? begin : "Name it: --thread ID");
  }
  const [last] = open;
  if (last === undefined) throw new CliError("not_found", "There is no thread here yet", { hint: begin });
  return last.threadId;
};
