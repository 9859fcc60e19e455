import type { Event, ItemOf } from "@harnesskit/protocol/threads";
import { createManualClock } from "@harnesskit/wire/testing";
import { expect, it } from "vitest";
import { createThreadServer, type ReadEventsOptions, type ThreadStore } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

const messages = (threadId: string, length: number): Event[] =>
  Array.from({ length }, (_, index) => {
    const text = index + 1 === length ? "a needle" : "hay";
    const ids = { threadId, turnId: "turn_1", itemId: `item_${index}` };
    const item: ItemOf<"assistant_message"> = { ...ids, type: "assistant_message", data: { text } };
    return { seq: index + 1, time: 1, type: "item.completed", data: { ...ids, type: item.type, item } };
  });

it("answers a search in time, and finds what is behind over its pages", async () => {
  const clock = createManualClock();
  const inner = createMemoryThreadStore();
  // Each message takes a millisecond to read.
  const store = overriding<ThreadStore>(inner, {
    async *events(threadId: string, options?: ReadEventsOptions) {
      for await (const event of inner.events(threadId, options)) {
        clock.advance(1);
        yield event;
      }
    },
  });
  for (const [threadId, length] of [
    ["ses_a", 12_345],
    ["ses_b", 999],
  ] as const) {
    await store.create({ threadId, title: "Long", directory: "/", time: { created: 1, updated: 1 } });
    await store.append(threadId, messages(threadId, length), { flush: false });
  }
  const limits = { searchTimeoutMs: 2000 };
  const client = RawClient.connect(createThreadServer({ runner: sayingRunner(), store, clock, limits }));
  const found: string[] = [];
  let cursor: string | undefined;
  let requests = 0;
  do {
    const before = clock.now();
    const { result } = await client.call("thread.search", { query: "needle", cursor });
    expect(clock.now() - before).toBeLessThanOrEqual(2001);
    for (const { thread, seq } of result.hits) found.push(`${thread.threadId} ${seq}`);
    cursor = result.nextCursor;
  } while (cursor && ++requests < 20);
  expect(cursor).toBeUndefined();
  expect(found).toEqual(["ses_a 12345", "ses_b 999"]);
});
