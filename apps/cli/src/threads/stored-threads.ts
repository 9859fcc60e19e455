import type { Thread } from "@harnesskit/protocol/threads";
import { type ThreadLease, type ThreadStore, ThreadStoreError } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { HarnessError } from "@harnesskit/wire";
import { keptWorkspace } from "../kept-workspace.ts";
import { threadNotFound } from "../run/failures.ts";
import { note } from "../terminal/terminal.ts";
import { grantKeyPath, harnessDirectory } from "../workspace-directory.ts";

const maxNamed = 5;

/** The threads below a directory. Reading takes no lock and makes nothing. */
export interface StoredThreads {
  readonly workspace: string;
  readonly store: ThreadStore;
  /** The threads that a list left out, because they could not be read. */
  readonly unreadable: ReadonlySet<string>;
}

/** Opens what is stored for `cwd`: below it, or below the nearest directory above it that has threads. An empty store is not an error. */
export const openStoredThreads = async (cwd: string): Promise<StoredThreads> =>
  storedThreadsIn(await keptWorkspace(cwd));

/** Opens what is stored below a directory. */
export const storedThreadsIn = (workspace: string): StoredThreads => {
  const unreadable = new Set<string>();
  const store = createFileThreadStore({
    root: harnessDirectory(workspace),
    grantKeyPath: grantKeyPath(),
    onError: (_, { threadId }) => unreadable.add(threadId),
  });
  return { workspace, store, unreadable };
};

/** A thread by its whole id. Throws a `CliError` `thread_not_found`. */
export const storedThread = async (
  { store, workspace }: StoredThreads,
  threadId: string,
): Promise<Thread> => {
  const thread = await store.get(threadId);
  if (!thread) throw threadNotFound(threadId, workspace);
  return thread;
};

/**
 * Removes a thread with its log, artifacts and grants, unless it is `kept` by then; without `kept`, also what is left of
 * one that cannot be read. "locked" where a server writes it, "gone" if it does not exist. Rejects
 * with a `ThreadStoreError` where its files do not allow it.
 */
export const removeThread = async (
  { store }: StoredThreads,
  threadId: string,
  kept?: (thread: Thread) => boolean,
): Promise<"removed" | "kept" | "locked" | "gone"> => {
  try {
    const lease = await leaseOf(store, threadId);
    if (!lease) return "gone";
    // The former holder may have used it.
    const thread = await store.get(threadId);
    // Nothing can be said for one that cannot be read.
    if (thread ? !kept?.(thread) : !kept) {
      await store.delete(threadId);
      return "removed";
    }
    await lease.release();
    return thread ? "kept" : "gone";
  } catch (error) {
    if (ThreadStoreError.isInstance(error) && error.code === "thread_locked") return "locked";
    throw error;
  }
};

const leaseOf = async (store: ThreadStore, threadId: string): Promise<ThreadLease | undefined> => {
  const isKnown = (await store.get(threadId)) !== undefined;
  try {
    return await store.lease(threadId);
  } catch (error) {
    if (!isKnown && HarnessError.isInstance(error) && error.code === "store_failed") return undefined;
    throw error;
  }
};

/** Which threads a list left out, for `--json`; nothing where it left out none. */
export const unreadableOf = ({ unreadable }: StoredThreads): { readonly unreadable?: string[] } =>
  unreadable.size === 0 ? {} : { unreadable: [...unreadable] };

/** Says on stderr which threads a list left out. */
export const noteUnreadable = ({ unreadable }: StoredThreads): void => {
  if (unreadable.size === 0) return;
  const names = [...unreadable].slice(0, maxNamed);
  const more = unreadable.size > maxNamed ? ` and ${unreadable.size - maxNamed} more` : "";
  const what = unreadable.size === 1 ? "a thread that" : `${unreadable.size} threads that`;
  note(
    `harness threads: left out ${what} cannot be read: ${names.join(", ")}${more}. To see why: harness doctor`,
  );
};
