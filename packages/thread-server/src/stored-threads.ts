import type { EventBody, Thread } from "@harnesskit/protocol/threads";
import { type Clock, type CreateId, randomId, systemClock } from "@harnesskit/wire";
import { archived, unarchived, withoutQueued, withQueued, withTitle } from "./edit-thread.ts";
import { seqOutOfRange, threadNotFound, turnActive } from "./errors.ts";
import { toEvents } from "./event-log.ts";
import { completeFork, isFork } from "./fork-thread.ts";
import { lastSeqOf } from "./read-log.ts";
import { readState } from "./read-state.ts";
import { threadServerLimits } from "./server-settings.ts";
import type { ThreadStore } from "./thread-store.ts";
import { dequeued } from "./waiting-prompts.ts";

/** What can be changed of a stored thread. */
export type ThreadChange = { readonly title: string } | { readonly archived: boolean };

export interface StoredThreadOptions {
  /** @default the real time */
  readonly clock?: Pick<Clock, "now"> | undefined;
  /** @default 128 random bits */
  readonly createId?: CreateId | undefined;
}

const limits = threadServerLimits.resolve({});

const stored = async (store: ThreadStore, threadId: string): Promise<Thread> => {
  const thread = await store.get(threadId);
  if (!thread) throw threadNotFound();
  return thread;
};

const apply = (thread: Thread, change: ThreadChange, now: number): Thread => {
  if ("title" in change) return withTitle(thread, change.title);
  return change.archived ? archived(thread, now) : unarchived(thread);
};

/** Does work under the lease of a thread. Rejects with `thread_locked` while a server writes it. */
const held = async <T>(store: ThreadStore, threadId: string, work: () => Promise<T>): Promise<T> => {
  const lease = await store.lease(threadId);
  try {
    return await work();
  } finally {
    await lease.release();
  }
};

/** Copies the rest of a fork whose server ended in between. The caller holds its lease. */
const complete = async (thread: Thread, store: ThreadStore, clock: Pick<Clock, "now">): Promise<void> => {
  const { maxHistoryLength } = limits;
  if (isFork(thread)) await completeFork(thread, store, { maxHistoryLength, now: () => clock.now() });
};

/**
 * Renames or archives a thread of a store without a server, as `thread.rename`, `thread.archive` and `thread.unarchive` do. The
 * title must be valid there. A fork that is incomplete is completed first. Rejects with -32001, -32002 `turn_active` for an archive of a thread whose turn has not ended, and
 * `thread_locked` (`ThreadStoreError`) while a server writes it.
 */
export const changeStoredThread = async (
  store: ThreadStore,
  threadId: string,
  change: ThreadChange,
  { clock = systemClock }: StoredThreadOptions = {},
): Promise<Thread> => {
  await stored(store, threadId);
  return held(store, threadId, async () => {
    // The former holder may have changed it.
    const thread = withoutQueued(await stored(store, threadId));
    await complete(thread, store, clock);
    const state = await readState(store, thread, limits);
    const archives = "archived" in change && change.archived;
    if (archives && state.turn) throw turnActive("archived");
    const time = clock.now();
    const changed = apply(thread, change, time);
    if (changed === thread) return thread;
    const leaving = archives ? state.waiting : [];
    const bodies: EventBody[] = [
      ...leaving.map((queued) => dequeued(queued, "archived", time)),
      { type: "thread.updated", data: { threadId, thread: changed } },
    ];
    await store.append(threadId, toEvents(bodies, state.lastSeq, time), { flush: true });
    const kept = withQueued(changed, state.queued.size - leaving.length);
    await store.update(kept);
    return kept;
  });
};

/**
 * Forks a thread of a store without a server, as `thread.fork` does; the source may be written meanwhile, and is completed first
 * where it is an incomplete fork. Rejects with -32001, -32602 `seq_out_of_range`, and `thread_locked` (`ThreadStoreError`) while a
 * server completes the source.
 */
export const forkStoredThread = async (
  store: ThreadStore,
  { threadId, seq, title }: { threadId: string; seq?: number | undefined; title?: string | undefined },
  { clock = systemClock, createId = randomId }: StoredThreadOptions = {},
): Promise<Thread> => {
  const source = await stored(store, threadId);
  let lastSeq = await lastSeqOf(store, threadId);
  if (isFork(source) && lastSeq <= source.forkedFrom.seq) {
    await held(store, threadId, () => complete(source, store, clock));
    lastSeq = await lastSeqOf(store, threadId);
  }
  const at = seq ?? lastSeq;
  if (at > lastSeq || at < 1) throw seqOutOfRange(at, lastSeq);
  const created = clock.now();
  const fork: Thread = {
    threadId: createId("ses"),
    title: title ?? source.title,
    directory: source.directory,
    time: { created, updated: created },
    forkedFrom: { threadId, seq: at },
  };
  await store.create(fork);
  await held(store, fork.threadId, () => complete(fork, store, clock));
  return fork;
};
