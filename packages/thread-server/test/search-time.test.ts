import type { Event, ItemOf } from "@harnesskit/protocol/threads";
import { createManualClock } from "@harnesskit/wire/testing";
import { expect, it } from "vitest";
import { createThreadServer, isWantedEvent, type ReadEventsOptions, type ThreadStore } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

const searchTimeoutMs = 2000;

/** A thread without messages, but for the last of its events. */
const seed = async (store: ThreadStore, threadId: string, length: number, text: string): Promise<void> => {
  const thread = { threadId, title: "Long", directory: "/", time: { created: 1, updated: 1 } };
  await store.create(thread);
  const ids = { threadId, turnId: "turn_1", itemId: "item_1" };
  const item: ItemOf<"assistant_message"> = { ...ids, type: "assistant_message", data: { text } };
  const events = Array.from(
    { length },
    (_, index): Event => ({ seq: index + 1, time: 1, type: "thread.updated", data: { threadId, thread } }),
  );
  events.push({
    ...{ seq: length + 1, time: 1 },
    ...{ type: "item.completed", data: { ...ids, type: item.type, item } },
  });
  await store.append(threadId, events, { flush: false });
};

it("answers a search in time while no message is found, and finds what is behind over its pages", async () => {
  const clock = createManualClock();
  const inner = createMemoryThreadStore();
  // Each event takes a millisecond to read, whether it is wanted or not.
  const store = overriding<ThreadStore>(inner, {
    async *events(threadId: string, { types, checkpointEvery, ...options }: ReadEventsOptions = {}) {
      for await (const event of inner.events(threadId, options)) {
        clock.advance(1);
        const wanted = { ...(types && { types }), ...(checkpointEvery && { checkpointEvery }) };
        if (isWantedEvent(event, wanted)) yield event;
      }
    },
  });
  await seed(store, "ses_a", 12_345, "a needle");
  await seed(store, "ses_b", 999, "another needle");
  const client = RawClient.connect(
    createThreadServer({ runner: sayingRunner(), store, clock, limits: { searchTimeoutMs } }),
  );
  const found: string[] = [];
  let cursor: string | undefined;
  let requests = 0;
  do {
    const before = clock.now();
    const { result } = await client.call("thread.search", { query: "needle", ...(cursor && { cursor }) });
    expect(clock.now() - before).toBeLessThanOrEqual(searchTimeoutMs + 1000);
    for (const { thread, seq } of result.hits) found.push(`${thread.threadId} ${seq}`);
    cursor = result.nextCursor;
  } while (cursor && ++requests < 20);
  expect(cursor).toBeUndefined();
  expect(found.sort()).toEqual(["ses_a 12346", "ses_b 1000"]);
});
