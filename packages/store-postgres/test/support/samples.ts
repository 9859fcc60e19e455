import { type SessionWrite, toList } from "@harnesskit/graph";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { Event, Thread } from "@harnesskit/protocol/threads";

/** A write of a session whose state is one list, over nothing that is known. */
export const write = (
  sessionId: string,
  messages: readonly JsonValue[],
  change: Partial<SessionWrite> = {},
): SessionWrite => ({
  sessionId,
  schemaVersion: "1",
  state: { messages: toList(messages) },
  baseVersion: null,
  changes: { fields: {}, lists: { messages: { keep: 0, items: messages } }, removed: [] },
  ...change,
});

export const thread = (threadId: string): Thread => ({
  threadId,
  title: threadId,
  directory: "/work",
  time: { created: 1, updated: 1 },
});

export const event = (threadId: string, seq: number, delta = `event ${seq}`): Event => ({
  seq,
  time: 1000 + seq,
  type: "item.delta",
  data: { threadId, turnId: "turn_1", itemId: "item_1", type: "assistant_message", delta },
});

export const readAll = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
