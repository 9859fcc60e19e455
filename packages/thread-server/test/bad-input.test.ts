import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import type { ThreadStore } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { fillableStore } from "./support/failing-stores.ts";
import { overriding } from "./support/overriding.ts";
import type { RawClient } from "./support/raw-client.ts";
import { serve } from "./support/serve.ts";
import { sayingRunner } from "./support/tools.ts";

const start = (store?: ThreadStore) => serve({ runner: sayingRunner("hello"), store });

/** That the server goes on as if nothing had been: a whole turn on a new thread. */
const expectAlive = async (client: RawClient) => {
  expect((await client.runTurn()).params.status).toBe("completed");
};

describe("requests that cannot be served", () => {
  it.each([
    ["initialize", { clientInfo: {} }, "clientInfo.name: "],
    ["thread.create", { title: "x".repeat(1001) }, "title: "],
    ["thread.get", undefined, "expected object"],
    ["thread.get", { threadId: "x", afterSeq: -1 }, "afterSeq: "],
    ["turn.start", { threadId: "x", input: [] }, "input: "],
    ["turn.start", { threadId: "x", input: [{ type: "text", text: "a" }], model: "gpt-9" }, "model: "],
    ["approval.respond", { requestId: null, decision: "once" }, "requestId: "],
  ])("%s with %j is -32602, and says where, without the value", async (method, params, where) => {
    const { client } = start();
    const { error } = await client.call(method, params);
    expect(error).toMatchObject({ code: -32602, data: { issues: expect.any(Array) } });
    expect(error?.message).toMatch(/^Invalid params: /);
    expect(error?.message).toContain(where);
    expect(error?.message).not.toMatch(/gpt-9|xxx/);
    await expectAlive(client);
  });

  it.each([
    ["thread.create", { title: "\ud83d", clientRequestId: "r1" }],
    ["turn.start", { threadId: "x", input: [{ type: "text", text: "\ud83d" }], clientRequestId: "r1" }],
  ])("%s with a name and half of a surrogate pair is -32602", async (method, params) => {
    const { client } = start();
    expect((await client.call(method, params)).error).toMatchObject({ code: -32602 });
    await expectAlive(client);
  });
});

describe("a history over the message limit", () => {
  it("is an error that names limit, and in pages it is whole", async () => {
    const { client } = serve({
      runner: sayingRunner("x".repeat(1_500_000)),
      limits: { maxHistoryLength: 1000, maxMessageLength: 1_500_000 },
    });
    const threadId = await client.createThread();
    for (let turn = 0; turn < 2; turn++) {
      await client.runTurn(threadId);
    }
    const { error } = await client.call("thread.get", { threadId });
    expect(error).toMatchObject({ code: -32602, data: { reason: "result_too_large", param: "limit" } });
    expect(error?.message).toContain("`limit`");
    const events: { seq: number }[] = [];
    for (;;) {
      const afterSeq = events.at(-1)?.seq ?? 0;
      const { result } = await client.call("thread.get", { threadId, afterSeq, limit: 100 });
      events.push(...result.events);
      if (result.nextAfterSeq === undefined) break;
      expect(result.nextAfterSeq).toBe(events.at(-1)?.seq);
    }
    const told = client.received.filter(({ method }) => method);
    expect(events).toHaveLength(told.length);
  });
});

describe("a store that fails", () => {
  it("is -32603 with its reason where the error is that of a database", async () => {
    const { disk, store } = fillableStore(
      false,
      () => new HarnessError("store_full", "The database is full"),
    );
    const { client } = start(store);
    const threadId = await client.createThread();
    disk.full = true;
    expect((await client.startTurn(threadId)).error).toMatchObject({
      code: -32603,
      message: "The database is full",
      data: { reason: "store_full" },
    });
  });

  it("is -32603 with its reason, and of the refused turn nothing is left", async () => {
    const { disk, store } = fillableStore();
    const { client } = start(store);
    const threadId = await client.createThread();
    disk.full = true;
    const { error } = await client.startTurn(threadId);
    expect(error).toMatchObject({
      code: -32603,
      message: "The disk is full",
      data: { reason: "store_full" },
    });
    disk.full = false;
    await client.runTurn(threadId);
    const events = await client.events(threadId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });

  it("a question that could not be answered on disk still stands", async () => {
    const { disk, store } = fillableStore();
    const { client, tool } = serve({ store });
    const { result } = await client.startTurn(await client.createThread());
    const { requestId } = (await client.notification("approval.requested")).params;
    disk.full = true;
    const refused = await client.answer(requestId);
    expect(refused.error).toMatchObject({ code: -32603, data: { reason: "store_full" } });
    expect(tool.runs).toEqual([]);
    disk.full = false;
    expect((await client.answer(requestId)).result).toEqual({
      ok: true,
    });
    expect((await client.turnEnd(result.turnId)).params.status).toBe("completed");
    expect(tool.runs).toHaveLength(1);
  });

  it("says nothing of a failure that is not the store's own", async () => {
    const store = overriding(createMemoryThreadStore(), {
      list: () => Promise.reject(new TypeError("secret /home")),
    });
    const { client } = start(store);
    const { error } = await client.call("thread.list");
    expect(error).toEqual({ code: -32603, message: "Internal error" });
  });
});

describe("a call of a model that is not well-formed Unicode", () => {
  it("is refused with that reason, and runs nothing", async () => {
    const { client, tool } = serve({ input: { command: "echo '\ud83d'" } });
    await client.startTurn(await client.createThread());
    const { params } = await client.notification("item.completed", ({ type }) => type === "tool_exec");
    expect(params.item.data).toMatchObject({
      status: "failed",
      code: "tool.invalid_input",
      error: expect.stringMatching(/half of a surrogate pair/),
    });
    expect(tool.runs).toEqual([]);
  });
});

describe("a call of a model that nests too deep", () => {
  it.each([70, 77, 5000])(
    "of %i levels fails with that reason, and the thread is read on",
    async (levels) => {
      const x = JSON.parse("[".repeat(levels) + "]".repeat(levels));
      const { client, tool } = serve({ input: { x } });
      expect((await client.runTurn()).params.status).toBe("completed");
      const error = expect.stringContaining("nests deeper than 64 levels");
      const items = client.items("tool_exec");
      expect(items).toContainEqual(
        expect.objectContaining({ status: "failed", code: "tool.invalid_input", input: {}, error }),
      );
      expect(tool.runs).toEqual([]);
      await expectAlive(client);
    },
  );
});
