import type { Event } from "@harnesskit/protocol/threads";
import { expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createThreadServer, ThreadStoreError, type TurnRunner } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

/** A server that writes to a store which refuses what `refuses` says. */
const setUp = async (runner: TurnRunner, refuses: (events: readonly Event[]) => boolean = () => false) => {
  const written: string[][] = [];
  const inner = createMemoryThreadStore();
  const store = overriding(inner, {
    append: async (threadId, events, options) => {
      if (refuses(events)) throw new ThreadStoreError("store_full", "The disk is full");
      written.push(events.map(({ type }) => type));
      await inner.append(threadId, events, options);
    },
  });
  const client = RawClient.connect(createThreadServer({ store, runner }));
  const threadId = await client.createThread();
  written.length = 0;
  const { method, params } = await client.runTurn(threadId);
  return { written, end: { method, ...params }, events: await client.events(threadId) };
};

const unawaited: TurnRunner = {
  async run(turn) {
    const message = turn.message();
    message.append("Hello");
    message.complete().catch(() => {});
  },
};

it("stores the start of a turn with its prompt, and its end with the message before it", async () => {
  const { written } = await setUp(unawaited);
  expect(written).toEqual([
    ["turn.started", "item.started", "item.completed"],
    ["item.started", "item.delta", "item.completed", "turn.completed"],
  ]);
});

it("stores what a runner awaits before it goes on", async () => {
  const { written } = await setUp(sayingRunner("Hello"));
  expect(written.slice(1)).toEqual([["item.started", "item.delta", "item.completed"], ["turn.completed"]]);
});

it.each([
  ["awaits it", sayingRunner("Hello")],
  ["does not", unawaited],
])(
  "does not end a turn as completed whose message could not be stored, where its runner %s",
  async (_, runner) => {
    let refused = 0;
    const isAnswer = ({ type, data }: Event) =>
      type === "item.completed" && data.type === "assistant_message";
    const { end, events } = await setUp(runner, (all) => all.some(isAnswer) && refused++ === 0);
    expect(end).toMatchObject({ method: "turn.error", code: "store_full", error: "The disk is full" });
    expect(events.filter(({ type }) => type === "turn.completed" || type === "turn.error")).toHaveLength(1);
  },
);

it("writes nothing of an item whose start could not be stored", async () => {
  let refused = 0;
  const slow: TurnRunner = {
    async run(turn) {
      const message = turn.message();
      await nextTurn(20);
      message.append("Hello");
      await message.complete();
    },
  };
  const isStart = ({ type, data }: Event) => type === "item.started" && data.type === "assistant_message";
  const { end, events } = await setUp(slow, (all) => all.some(isStart) && refused++ === 0);
  expect(end).toMatchObject({ method: "turn.error", code: "store_full" });
  expect(events.map(({ type }) => type)).not.toContain("item.delta");
  expect(events.filter(({ data }) => "type" in data && data.type === "assistant_message")).toEqual([]);
});
