import { HarnessError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createThreadServer, type ThreadStore, ThreadStoreError } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { overriding } from "./support/overriding.ts";
import { RawClient } from "./support/raw-client.ts";
import { callingRunner, recordingTool, sayingRunner } from "./support/tools.ts";

const start = (store?: ThreadStore) => {
  const runner = sayingRunner("hello");
  const server = createThreadServer(store ? { runner, store } : { runner });
  return { server, client: RawClient.connect(server) };
};

/** That the server goes on as if nothing had been: a whole turn on a new thread. */
const expectAlive = async (client: RawClient) => {
  const { result } = await client.startTurn(await client.createThread());
  expect((await client.turnEnd(result.turnId)).params.status).toBe("completed");
};

describe("requests that cannot be served", () => {
  it.each([
    ["initialize", { clientInfo: {} }],
    ["thread.create", { title: "x".repeat(1001) }],
    ["thread.get", undefined],
    ["thread.get", { threadId: "x", afterSeq: -1 }],
    ["turn.start", { threadId: "x", input: [] }],
    ["turn.start", { threadId: "x", input: [{ type: "text", text: "a" }], model: { providerID: "p" } }],
    ["approval.respond", { requestId: null, decision: "once" }],
  ])("%s with %j is -32602, without the value", async (method, params) => {
    const { client } = start();
    const { error } = await client.call(method, params);
    expect(error).toMatchObject({ code: -32602, data: { issues: expect.any(Array) } });
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
    const server = createThreadServer({
      runner: sayingRunner("x".repeat(1_500_000)),
      limits: { maxHistoryLength: 1000, maxMessageLength: 1_500_000 },
    });
    const client = RawClient.connect(server);
    const threadId = await client.createThread();
    for (let turn = 0; turn < 2; turn++) {
      const { result } = await client.startTurn(threadId);
      await client.turnEnd(result.turnId);
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
  /** A store whose writes fail while `fails` is set. */
  const failing = (
    error: () => HarnessError = () => new ThreadStoreError("store_full", "The disk is full"),
  ) => {
    const store = createMemoryThreadStore();
    const control = { fails: false };
    const append: ThreadStore["append"] = (...args) =>
      control.fails ? Promise.reject(error()) : store.append(...args);
    return { control, store: overriding(store, { append }) };
  };

  it("is -32603 with its reason where the error is that of a database", async () => {
    const { control, store } = failing(() => new HarnessError("store_full", "The database is full"));
    const { client } = start(store);
    const threadId = await client.createThread();
    control.fails = true;
    expect((await client.startTurn(threadId)).error).toMatchObject({
      code: -32603,
      message: "The database is full",
      data: { reason: "store_full" },
    });
  });

  it("is -32603 with its reason, and of the refused turn nothing is left", async () => {
    const { control, store } = failing();
    const { client } = start(store);
    const threadId = await client.createThread();
    control.fails = true;
    const { error } = await client.startTurn(threadId);
    expect(error).toMatchObject({
      code: -32603,
      message: "The disk is full",
      data: { reason: "store_full" },
    });
    control.fails = false;
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    const events = await client.events(threadId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });

  it("a question that could not be answered on disk still stands", async () => {
    const { control, store } = failing();
    const tool = recordingTool("bash", "execute");
    const server = createThreadServer({
      store,
      tools: [tool],
      runner: callingRunner({ tool: "bash", input: {} }),
    });
    const client = RawClient.connect(server);
    const { result } = await client.startTurn(await client.createThread());
    const { requestId } = (await client.notification("approval.requested")).params;
    control.fails = true;
    const refused = await client.call("approval.respond", { requestId, decision: "once" });
    expect(refused.error).toMatchObject({ code: -32603, data: { reason: "store_full" } });
    expect(tool.runs).toEqual([]);
    control.fails = false;
    expect((await client.call("approval.respond", { requestId, decision: "once" })).result).toEqual({
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
    const tool = recordingTool("echo", "read");
    const runner = callingRunner({ tool: "echo", input: { command: "echo '\ud83d'" } });
    const server = createThreadServer({ runner, tools: [tool] });
    const client = RawClient.connect(server);
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
      const tool = recordingTool("echo", "read");
      const x = JSON.parse("[".repeat(levels) + "]".repeat(levels));
      const runner = callingRunner({ tool: "echo", input: { x } });
      const server = createThreadServer({ runner, tools: [tool] });
      const client = RawClient.connect(server);
      const threadId = await client.createThread();
      const { result } = await client.startTurn(threadId);
      expect((await client.turnEnd(result.turnId)).params.status).toBe("completed");
      const error = expect.stringContaining("nests deeper than 64 levels");
      const items = client.items("tool_exec");
      expect(items).toContainEqual(
        expect.objectContaining({ status: "failed", code: "tool.invalid_input", input: {}, error }),
      );
      expect(tool.runs).toEqual([]);
      await expectAlive(client);
      await server.close();
    },
  );
});
