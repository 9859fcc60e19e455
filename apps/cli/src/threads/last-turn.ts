import { join } from "node:path";
import { isLockOwnerDead, readFileLock } from "@harnesskit/node-kit";
import type { Event } from "@harnesskit/protocol/threads";
import { createFileThreadStore } from "@harnesskit/thread-server/node";

/**
 * How the last turn of a stored thread stands: `running` while a server holds the thread, `waits` for the answer to an approval, and
 * `interrupted` where its server is gone.
 */
export interface LastTurn {
  readonly turnId: string;
  readonly state: "running" | "waits" | "interrupted" | "ended";
}

const turnMarks: ReadonlySet<string> = new Set(["turn.started", "turn.completed", "turn.error"]);
const firstReadBytes = 64 * 1024;

/** The end of the log, back to the last turn's start, or to its end where that is later. */
const readLastTurn = async (harness: string, threadId: string): Promise<readonly Event[]> => {
  const store = createFileThreadStore({ root: harness });
  if (!(await store.get(threadId).catch(() => undefined))) return [];
  for (let bytes = firstReadBytes; ; bytes *= 4) {
    const events = await store.lastEvents(threadId, bytes);
    const isWhole = events.some(({ type }) => turnMarks.has(type));
    if (isWhole || events.length === 0 || events[0]?.seq === 1) return events;
  }
};

/** Whether a living process holds the thread; one whose lock cannot be read may live. */
const isHeld = async (harness: string, threadId: string): Promise<boolean> => {
  const path = join(harness, "threads", threadId, "lock.json");
  const owner = await readFileLock(path).catch(() => "unreadable" as const);
  return owner === "unreadable" || (owner !== undefined && !isLockOwnerDead(owner));
};

/**
 * The last turn of a thread below `harness`, the `.harness` directory; undefined where none has begun. Takes no lock and changes nothing.
 * Rejects with a `ThreadStoreError` where the log cannot be read.
 */
export const lastTurnOf = async (harness: string, threadId: string): Promise<LastTurn | undefined> => {
  let last: LastTurn | undefined;
  const waiting = new Set<string>();
  for (const { type, data } of await readLastTurn(harness, threadId)) {
    if (type === "turn.started") last = { turnId: data.turnId, state: "interrupted" };
    if (type === "turn.completed" || type === "turn.error") last = { turnId: data.turnId, state: "ended" };
    if (type === "approval.requested") waiting.add(data.itemId);
    if (type === "item.completed") waiting.delete(data.itemId);
    if (last?.state !== "interrupted") waiting.clear();
  }
  if (last?.state !== "interrupted") return last;
  if (await isHeld(harness, threadId)) return { ...last, state: "running" };
  return waiting.size > 0 ? { ...last, state: "waits" } : last;
};
