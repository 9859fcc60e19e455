import type { Event, Thread } from "@harnesskit/protocol/threads";
import type { ThreadStore } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { CliError } from "./cli-error.ts";
import { oneLine } from "./terminal/one-line.ts";
import { harnessDirectory, workspaceDirectory } from "./workspace-directory.ts";

/** The threads below a directory, to be read only: no lock is taken and nothing is made. */
export interface StoredThreads {
  /** The real path of the directory. */
  readonly workspace: string;
  list(): Promise<Thread[]>;
  /** A thread. Throws a `CliError` `thread_not_found`. */
  get(threadId: string): Promise<Thread>;
  events(threadId: string): AsyncIterable<Event>;
}

/** Opens what is stored below `cwd`; nothing stored is no error. */
export const openStoredThreads = async (cwd: string): Promise<StoredThreads> => {
  const workspace = await workspaceDirectory(cwd);
  const store: ThreadStore = createFileThreadStore({ root: harnessDirectory(workspace) });
  return {
    workspace,
    list: () => store.list(),
    events: (threadId) => store.events(threadId),
    async get(threadId) {
      const thread = await store.get(threadId);
      if (!thread) throw threadNotFound(threadId, workspace);
      return thread;
    },
  };
};

/** There is no such thread below the directory. */
export const threadNotFound = (threadId: string, workspace: string, cause?: unknown): CliError =>
  new CliError("thread_not_found", `There is no thread ${oneLine(threadId, 80)} in ${oneLine(workspace)}`, {
    hint: "See what there is: harness threads list --cwd DIR",
    cause,
  });
