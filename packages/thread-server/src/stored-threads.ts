import type { Thread } from "@harnesskit/protocol/threads";
import type { Clock, CreateId } from "@harnesskit/wire";
import { Connections } from "./connections.ts";
import { threadToFork } from "./create-thread.ts";
import { unarchived, withTitle } from "./edit-thread.ts";
import { seqOutOfRange, TurnError, threadNotFound, turnActive } from "./errors.ts";
import { isFork } from "./fork-thread.ts";
import { lastSeqOf } from "./read-log.ts";
import { resolveSettings } from "./server-settings.ts";
import { ThreadSession, type ThreadSessionOptions } from "./thread-session.ts";
import type { ThreadStore } from "./thread-store.ts";

/** What can be changed of a stored thread. */
export type ThreadChange = { readonly title: string } | { readonly archived: boolean };

export interface StoredThreadOptions {
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** @default 128 random bits */
  readonly createId?: CreateId | undefined;
}

/** A session as a server has it, without clients and without an agent. */
const sessionOptions = (
  store: ThreadStore,
  { clock, createId }: StoredThreadOptions,
): ThreadSessionOptions => {
  const run = () => Promise.reject(new TurnError("server_closed", "There is no agent here."));
  const settings = resolveSettings({ clock, createId, store, runner: { run } });
  const read = (threadId: string, afterSeq: number) => store.events(threadId, { afterSeq });
  return {
    settings,
    connections: new Connections({ read, maxOutboxLength: 0, onError: settings.onError }),
    onEvent: () => {},
    onTurnOver: () => {},
    onHeld: async () => {},
    signal: new AbortController().signal,
  };
};

const stored = async (store: ThreadStore, threadId: string): Promise<Thread> => {
  const thread = await store.get(threadId);
  if (!thread) throw threadNotFound();
  return thread;
};

/**
 * Renames or archives a thread of a store without a server, as `thread.rename`, `thread.archive` and `thread.unarchive` do. The
 * title must be valid there. A fork that is incomplete is completed first; nothing that waits in the thread goes on. Rejects with
 * -32001, -32002 `turn_active` for an archive of a thread whose turn has not ended, and `thread_locked` (`ThreadStoreError`) while
 * a server writes it.
 */
export const changeStoredThread = async (
  store: ThreadStore,
  threadId: string,
  change: ThreadChange,
  options: StoredThreadOptions = {},
): Promise<Thread> => {
  const thread = await stored(store, threadId);
  const session = await ThreadSession.hold(thread, sessionOptions(store, options));
  try {
    if ("title" in change) return await session.edit((before) => withTitle(before, change.title));
    if (!change.archived) return await session.edit(unarchived);
    if (session.state.turn) throw turnActive("archived");
    return await session.archive();
  } finally {
    await session.close();
  }
};

/**
 * Forks a thread of a store without a server, as `thread.fork` does; the source may be written meanwhile, and is completed first
 * where it is an incomplete fork. Rejects with -32001, -32602 `seq_out_of_range`, and `thread_locked` (`ThreadStoreError`) while a
 * server completes the source.
 */
export const forkStoredThread = async (
  store: ThreadStore,
  { threadId, seq, title }: { threadId: string; seq?: number | undefined; title?: string | undefined },
  given: StoredThreadOptions = {},
): Promise<Thread> => {
  const options = sessionOptions(store, given);
  const source = await stored(store, threadId);
  let lastSeq = await lastSeqOf(store, threadId);
  if (isFork(source) && lastSeq <= source.forkedFrom.seq) {
    await (await ThreadSession.hold(source, options)).close();
    lastSeq = await lastSeqOf(store, threadId);
  }
  if (seq !== undefined && seq < 1) throw seqOutOfRange(seq, lastSeq);
  const fork = await threadToFork({ threadId, seq, title }, source, lastSeq, options.settings);
  await (await ThreadSession.create(fork, options)).close();
  return fork;
};
