import { type Event, EventSchema, ThreadSchema, TurnSchema } from "@harnesskit/protocol/threads";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import { createThreadServer } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import type { TurnRequest } from "../src/turn-runner.ts";
import { RawClient } from "./support/raw-client.ts";
import { sayingRunner } from "./support/tools.ts";

const start = (options: Partial<Parameters<typeof createThreadServer>[0]> = {}) => {
  const server = createThreadServer({ runner: sayingRunner("hello"), ...options });
  return { server, client: RawClient.connect(server) };
};

describe("initialize", () => {
  it("returns the version and the capabilities, with or without params, again and again", async () => {
    const { client } = start();
    const expected = {
      version: "1.0.0",
      capabilities: {
        threads: true,
        turns: true,
        approvals: true,
        streaming: true,
        persistence: false,
        extensions: {
          subscribe: true,
          paging: true,
          clientRequestId: true,
          delete: true,
          grants: true,
          approvalResolved: true,
        },
      },
    };
    expect((await client.call("thread.list")).result).toEqual({ threads: [] });
    expect((await client.call("initialize")).result).toMatchObject(expected);
    expect(
      (await client.call("initialize", { clientInfo: { name: "x", version: "1" } })).result,
    ).toMatchObject(expected);
    expect(
      (await client.call("initialize", { clientInfo: { name: "x" }, later: true })).result,
    ).toMatchObject(expected);
  });

  it("tells of persistence what the store keeps", async () => {
    await using dir = await temporaryDirectory();
    const { client } = start({ store: createFileThreadStore({ root: dir.path }) });
    expect((await client.call("initialize")).result.capabilities.persistence).toBe(true);
  });
});

describe("an optional parameter that is null", () => {
  it("is as one that is left out", async () => {
    const { client } = start();
    const nothing = {
      limit: null,
      cursor: null,
      directory: null,
      title: null,
      updatedAfter: null,
      archived: null,
    };
    await client.call("initialize", null);
    await client.call("initialize", { clientInfo: { name: "x", version: null } });
    const created = await client.call("thread.create", {
      title: null,
      directory: null,
      clientRequestId: null,
    });
    const { thread } = created.result;
    const { threadId } = thread;
    expect(thread).toMatchObject({ title: "New thread", directory: "" });
    expect((await client.call("thread.list", nothing)).result).toEqual({ threads: [thread] });
    const input = [{ type: "file", path: null, uri: "file:///x", mimeType: null }];
    const more = { model: null, agent: null, whenBusy: null, clientRequestId: null };
    const { result } = await client.call("turn.start", { threadId, input, ...more });
    await client.turnEnd(result.turnId);
    const history = await client.call("thread.get", { threadId, afterSeq: null, limit: null });
    expect(history.result.events[0].seq).toBe(1);
    expect(client.items("user_message")).toEqual([
      { content: [{ type: "file", uri: "file:///x" }], agent: "code" },
    ]);
    expect((await client.call("turn.cancel", { threadId: null })).error?.code).toBe(-32602);
  });
});

describe("threads", () => {
  it("creates a thread with title and directory and tells of it behind the reply", async () => {
    const clock = createManualClock(1_700_000_000_123);
    const { client } = start({ clock, resolveDirectory: (directory) => `/root/${directory ?? ""}` });
    const { result } = await client.call("thread.create", { title: "T", directory: "sub" });
    expect(result.thread).toEqual({
      threadId: expect.stringMatching(/^ses_[0-9a-f]{32}$/),
      title: "T",
      directory: "/root/sub",
      time: { created: 1_700_000_000_123, updated: 1_700_000_000_123 },
    });
    const { params } = await client.notification("thread.created");
    const { thread } = result;
    expect(params).toEqual({ threadId: thread.threadId, thread, seq: 1, time: 1_700_000_000_123 });
    expect(client.received.map(({ method }) => method)).toEqual([undefined, "thread.created"]);
    const untitled = await client.call("thread.create");
    expect(ThreadSchema.parse(untitled.result.thread).title).toBe("New thread");
  });

  it("have no directory where the server has none", async () => {
    const { client } = start();
    expect((await client.call("thread.create")).result.thread.directory).toBe("");
    expect((await client.call("thread.create", { directory: "/" })).error?.code).toBe(-32602);
  });

  it("refuses an empty title wherever one is given", async () => {
    const { client } = start();
    const threadId = await client.createThread();
    for (const method of ["thread.create", "thread.rename", "thread.fork"])
      expect((await client.call(method, { threadId, title: "" })).error?.code).toBe(-32602);
  });

  it("are listed all, or refused with the way to list them", async () => {
    const { client } = start({ limits: { maxPageBytes: 1000 } });
    for (let index = 0; index < 9; index++) await client.createThread();
    expect((await client.call("thread.list")).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("`limit`"),
      data: { reason: "result_too_large", param: "limit" },
    });
    const { threads, nextCursor } = (await client.call("thread.list", { limit: 9 })).result;
    expect(threads.length).toBeLessThan(9);
    const { error, result } = await client.call("thread.list", { cursor: nextCursor });
    expect(error?.data?.param ?? threads.length + result.threads.length).toBe(9);
  });

  it("lists all threads, the one used last first", async () => {
    const clock = createManualClock();
    const { client } = start({ clock });
    const first = await client.createThread();
    clock.advance(1000);
    const second = await client.createThread();
    const ids = async (params?: object) =>
      (await client.call("thread.list", params)).result.threads.map(
        ({ threadId }: { threadId: string }) => threadId,
      );
    expect(await ids()).toEqual([second, first]);
    expect(await ids({})).toEqual([second, first]);
    clock.advance(1000);
    const { result } = await client.startTurn(first);
    await client.turnEnd(result.turnId);
    expect(await ids()).toEqual([first, second]);
  });

  it("gives the history: every notification as it was sent, numbered without a gap", async () => {
    const { client } = start({ runner: sayingRunner("a", "b") });
    await client.call("thread.create", { title: "another" });
    const { thread } = (await client.call("thread.create", { title: "Build" })).result;
    const { threadId } = thread;
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    const got = (await client.call("thread.get", { threadId })).result;
    expect(ThreadSchema.parse(got.thread)).toEqual({
      ...thread,
      time: { ...thread.time, updated: expect.any(Number) },
    });
    expect(got.thread).toMatchObject({ threadId, title: "Build", directory: thread.directory });
    const events: Event[] = got.events;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    for (const event of events) expect(EventSchema.parse(event)).toEqual(event);
    const told = client.told.filter(({ data }) => data.threadId === threadId);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual(told);
    const numbered = client.received
      .filter(({ method, params }) => method && params.threadId === threadId)
      .map(({ params }) => [params.seq, params.time]);
    expect(numbered).toEqual(events.map(({ seq, time }) => [seq, time]));
    const part = (await client.call("thread.get", { threadId, afterSeq: 2, limit: 2 })).result.events;
    expect(part).toEqual(events.slice(2, 4));
  });
});

describe("turns", () => {
  it("answers at once, then streams items whose completion is what the deltas add up to", async () => {
    const { client } = start({
      runner: {
        async run(turn) {
          const thought = turn.message({ reasoning: true });
          thought.append("hm");
          await thought.complete();
          const message = turn.message();
          message.append("Hel");
          await Promise.resolve();
          message.append("lo");
          await message.complete();
          turn.addUsage({ inputTokens: 3, outputTokens: 4 });
          turn.addUsage({ inputTokens: 1 });
        },
      },
    });
    const threadId = await client.createThread();
    const reply = await client.startTurn(threadId, "hi");
    const { turnId } = reply.result;
    const end = await client.turnEnd(turnId);
    const after = client.received.slice(client.received.indexOf(reply) + 1).map(({ method }) => method);
    expect(after[0]).toBe("turn.started");
    expect(client.all("turn.started")).toEqual([
      {
        threadId,
        turnId,
        turn: { threadId, turnId, status: "running", time: { started: expect.any(Number) } },
      },
    ]);
    expect(client.items("user_message")).toEqual([
      { content: [{ type: "text", text: "hi" }], agent: "code" },
    ]);
    expect(client.items("assistant_message")).toEqual([{ text: "hm", reasoning: true }, { text: "Hello" }]);
    for (const { itemId, item, type, ...ids } of client.all("item.completed")) {
      expect(ids).toEqual({ threadId, turnId });
      expect(item).toMatchObject({ itemId, threadId, turnId, type });
      const deltas = client.all("item.delta").filter((delta) => delta.itemId === itemId);
      if (type === "assistant_message")
        expect(deltas.map(({ delta }) => delta).join("")).toBe(item.data.text);
      expect(client.all("item.started").filter((started) => started.itemId === itemId)).toHaveLength(1);
    }
    expect(end.method).toBe("turn.completed");
    expect(end.params).toMatchObject({ threadId, turnId, status: "completed" });
    const turn = TurnSchema.parse(end.params.turn);
    expect(turn).toMatchObject({ status: "completed", usage: { inputTokens: 4, outputTokens: 4 } });
    expect(turn.time.completed).toBeGreaterThanOrEqual(turn.time.started);
  });

  it("hands model, agent and input to the runner", async () => {
    const seen: TurnRequest[] = [];
    const { client } = start({
      agents: [
        { name: "code", systemPrompt: "c" },
        { name: "ask", systemPrompt: "a" },
      ],
      runner: {
        async run({ input, agent, model }) {
          seen.push(model ? { input, agent, model } : { input, agent });
        },
      },
    });
    const threadId = await client.createThread();
    const model = { providerID: "anthropic", modelID: "m" };
    const input = [
      { type: "text", text: "x" },
      { type: "file", path: "a.txt", mimeType: "text/plain" },
      { type: "file", uri: "file:///b" },
    ];
    const first = await client.call("turn.start", { threadId, input, model, agent: "ask" });
    await client.turnEnd(first.result.turnId);
    const second = await client.startTurn(threadId, "y");
    await client.turnEnd(second.result.turnId);
    const unread = [
      { type: "file" },
      { type: "file", path: "a.txt", uri: "file:///b" },
      { type: "file", path: "" },
      { type: "file", path: "a.txt", mimeType: 1 },
      { type: "text" },
      { type: "image", path: "a.png" },
    ];
    for (const part of unread) {
      const { error } = await client.call("turn.start", { threadId, input: [part] });
      expect(error, JSON.stringify(part)).toMatchObject({ code: -32602 });
    }
    expect(client.items("user_message")[0]).toMatchObject({ content: input });
    expect(seen).toEqual([
      { input, model, agent: { name: "ask", systemPrompt: "a" } },
      { input: [{ type: "text", text: "y" }], agent: { name: "code", systemPrompt: "c" } },
    ]);
  });

  it("tells every client on every connection", async () => {
    const { server, client } = start();
    const other = RawClient.connect(server);
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId);
    await client.turnEnd(result.turnId);
    await other.turnEnd(result.turnId);
    const methods = (from: RawClient) => from.received.filter(({ method }) => method);
    expect(methods(other)).toEqual(methods(client));
  });

  it("records artifacts", async () => {
    const artifact = { kind: "report", path: "out.txt", mimeType: "text/plain", sizeBytes: 3 };
    const { client } = start({ runner: { run: (turn) => turn.artifact(artifact) } });
    const { result } = await client.startTurn(await client.createThread());
    await client.turnEnd(result.turnId);
    expect(client.items("artifact")).toEqual([artifact]);
  });
});
