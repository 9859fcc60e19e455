import { type Thread, ThreadErrorCode, type ThreadMethodParams } from "@harnesskit/protocol/threads";
import {
  createThreadClient,
  type SearchPage,
  type ThreadClient,
  UnsupportedError,
} from "@harnesskit/thread-client";
import {
  changeStoredThread,
  forkStoredThread,
  searchThreads,
  ThreadStoreError,
  threadServerLimits,
} from "@harnesskit/thread-server";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { displayText, ProtocolError, systemClock } from "@harnesskit/wire";
import { CliError, unavailableError, usageError } from "../cli-error.ts";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";
import { io } from "../io.ts";
import { threadNotFound } from "../run/failures.ts";
import { openStoredThreads, type StoredThreads } from "./stored-threads.ts";
import { servedThreadId, storedThreadId } from "./thread-ids.ts";

/** Where threads are: below a directory, or at a server that runs. */
export interface PlaceOptions {
  readonly cwd?: string | undefined;
  readonly attach?: string | undefined;
}

/** What the commands do with one thread, or with all for a search. */
export interface ThreadPlace {
  rename(title: string): Promise<Thread>;
  archive(archived: boolean): Promise<Thread>;
  fork(options: { readonly seq?: number | undefined; readonly title?: string | undefined }): Promise<Thread>;
  search(params: ThreadMethodParams<"thread.search">): Promise<SearchPage>;
}

const atServer = (client: ThreadClient, threadId: string): ThreadPlace => ({
  rename: (title) => client.renameThread(threadId, title),
  archive: (archived) => (archived ? client.archiveThread(threadId) : client.unarchiveThread(threadId)),
  fork: (options) => client.forkThread(threadId, options),
  search: ({ query, ...options }) => client.searchThreads(query, options),
});

const inDirectory = ({ store }: StoredThreads, threadId: string): ThreadPlace => ({
  rename: (title) => changeStoredThread(store, threadId, { title }),
  archive: (archived) => changeStoredThread(store, threadId, { archived }),
  fork: (options) => forkStoredThread(store, { threadId, ...options }),
  search: (params) =>
    searchThreads(store, params, { clock: systemClock, limits: threadServerLimits.resolve({}) }),
});

/**
 * Works on a thread where it is, which may be named by the beginning of its id; `work` gets the whole id. Rejects with a `CliError` that says what to
 * do.
 */
export const withThreads = async <T>(
  threadId: string | undefined,
  { cwd = io().cwd(), attach }: PlaceOptions,
  work: (threads: ThreadPlace, threadId: string) => Promise<T>,
): Promise<T> => {
  let id = threadId ?? "";
  try {
    if (attach === undefined) {
      const stored = await openStoredThreads(cwd);
      id = await storedThreadId(stored.workspace, id);
      return await work(inDirectory(stored, id), id);
    }
    const transport = createUnixTransport({ path: socketPathOf(attach, "--attach") });
    const client = createThreadClient({
      transport,
      reconnect: false,
      clientInfo: { name: "harness threads" },
    });
    await client.connect();
    try {
      if (id !== "") id = await servedThreadId(client, id);
      return await work(atServer(client, id), id);
    } finally {
      await client.close();
    }
  } catch (error) {
    throw attach === undefined
      ? toCliFailure(error, id, cwd)
      : toCliFailure(toSocketFailure(error, "--attach"), id);
  }
};

/** @param cwd where the thread was looked for; undefined for a server */
const toCliFailure = (error: unknown, threadId: string, cwd?: string): unknown => {
  if (CliError.isInstance(error)) return error;
  if (ThreadStoreError.isInstance(error) && error.code === "thread_locked") {
    return new CliError("thread_locked", `${threadId} is in use by a server`, {
      hint: "Ask that server: the same command with --attach unix:PATH. To find it: harness doctor",
    });
  }
  if (UnsupportedError.isInstance(error)) {
    const message = `The server cannot do this: ${displayText(error.message, { maxLength: 300 })}`;
    return unavailableError("unsupported", message, {
      hint: "It must be a harness serve of this version",
      cause: error,
    });
  }
  if (!ProtocolError.isInstance(error)) return error;
  if (error.rpcCode === ThreadErrorCode.ThreadNotFound) {
    if (cwd !== undefined) return threadNotFound(threadId, cwd, error);
    return new CliError("thread_not_found", `The server has no thread ${threadId}`, { cause: error });
  }
  if (error.rpcCode === ThreadErrorCode.TurnBusy) {
    return new CliError("turn_busy", displayText(error.message, { maxLength: 300 }), {
      hint: "Try again when the turn has ended",
      cause: error,
    });
  }
  const message = displayText(error.message, { maxLength: 300 });
  return error.code === "invalid_params" ? usageError(message) : error;
};
