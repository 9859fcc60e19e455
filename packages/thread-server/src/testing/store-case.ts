import type { Event, Grant, Thread } from "@harnesskit/protocol/threads";
import type { ReadEventsOptions, ThreadStore } from "../thread-store.ts";

/** What a case works with. */
export interface StoreContext {
  readonly store: ThreadStore;
  /** Closes the store and opens one on the same storage. */
  reopen(): Promise<ThreadStore>;
}

/** Cases by their names. Each throws where the contract is broken; the message says which part. */
export type StoreCases = Readonly<Record<string, (context: StoreContext) => Promise<void>>>;

export const readAll = async (
  store: ThreadStore,
  threadId: string,
  options?: ReadEventsOptions,
): Promise<Event[]> => {
  const all: Event[] = [];
  for await (const event of store.events(threadId, options)) all.push(event);
  return all;
};

/** A thread as a server makes it. */
export const sampleThread = (threadId: string, updated = 1): Thread => ({
  threadId,
  title: `Title of ${threadId} — “ü”\u2028`,
  directory: "/work",
  time: { created: 1, updated },
});

/** An event of a thread; its text takes about `length` characters. */
export const sampleEvent = (threadId: string, seq: number, length = 10): Event => ({
  seq,
  time: 1000 + seq,
  type: "item.delta",
  data: {
    threadId,
    turnId: "turn_1",
    itemId: "item_1",
    type: "assistant_message",
    delta: `ü\n\0${"x".repeat(length)}`,
  },
});

export const sampleEvents = (threadId: string, from: number, to: number, length?: number): Event[] =>
  Array.from({ length: to - from + 1 }, (_, index) => sampleEvent(threadId, from + index, length));

export const sampleGrant = (grantId: string, threadId: string, scope: Grant["scope"]): Grant => ({
  grantId,
  scope,
  threadId,
  directory: "/work",
  tool: "bash",
  input: { command: "ls", nested: { deep: [1, null, "ü"] } },
  digest: `sha256:${"0".repeat(64)}`,
  requestId: "apr_1_1",
  grantedBy: "client-1",
  time: 5,
});

/** Ids that no store makes up: each would name another place, or none, if it were taken for a file's name. */
export const hostileIds: readonly string[] = [
  "",
  ".",
  "..",
  "/",
  "../ses_1",
  "ses_../ses_1",
  "ses_1/",
  "ses_1/../ses_1",
  "ses_1\\..\\ses_1",
  "ses_1\0",
  "SES_1",
  "__proto__",
  "constructor",
  "con",
  `ses_${"a".repeat(5000)}`,
];
