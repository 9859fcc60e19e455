import type { Event } from "@harnesskit/protocol/threads";
import { describe, expect, it } from "vitest";
import { type ThreadServerOptions, ThreadStoreError } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { readAll } from "./support/failing-stores.ts";
import { overriding } from "./support/overriding.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { openServer, ownDirectory } from "./support/serve.ts";
import { callingRunner, recordingTool, sayingRunner } from "./support/tools.ts";

const setUp = async (options: Partial<ThreadServerOptions> = {}) => {
  const server = openServer({ runner: sayingRunner("a", "b"), ...options });
  const client = RawClient.connect(server);
  const threadId = (await client.call("thread.create", { title: "Source" })).result.thread.threadId as string;
  const turn = async (text: string, of = threadId, more: object = {}) =>
    client.turnEnd((await client.startTurn(of, text, more)).result.turnId);
  const fork = async (params: object = {}) => client.call("thread.fork", { threadId, ...params });
  return { server, client, threadId, turn, fork };
};

/** The events as they would be in another thread. */
const inThread = (events: readonly Event[], from: string, to: string): unknown =>
  JSON.parse(JSON.stringify(events).replaceAll(from, to));

describe("thread.fork", () => {
  it("closes in the fork what was open there: the turn ends as forked, its question and its queue with it", async () => {
    const tool = recordingTool("bash", "execute");
    const runner = callingRunner({ tool: "bash", input: { command: "ls" } });
    const { client, threadId, fork } = await setUp({ runner, tools: [tool] });
    const { turnId } = (await client.startTurn(threadId, "one")).result;
    const { params } = await client.notification("approval.requested");
    const queued = (await client.startTurn(threadId, "two", { whenBusy: "queue" })).result.turnId;
    const before = await client.events(threadId);
    const { thread } = (await fork()).result;
    expect(thread).not.toHaveProperty("queued");
    const events = (await client.events(thread.threadId)).slice(before.length);
    expect(events.map(({ type }) => type)).toEqual([
      "item.completed",
      "item.completed",
      "approval.resolved",
      "turn.error",
      "turn.dequeued",
      "thread.forked",
    ]);
    expect(ofType(events, "turn.error")).toMatchObject([
      { data: { turnId, code: "forked", turn: { status: "error" } } },
    ]);
    expect(ofType(events, "approval.resolved")).toMatchObject([
      { data: { resolvedBy: "server", reason: "forked" } },
    ]);
    expect(ofType(events, "turn.dequeued")).toMatchObject([{ data: { turnId: queued, reason: "forked" } }]);
    expect((await client.call("queue.list", { threadId: thread.threadId })).result.queued).toEqual([]);
    expect((await client.call("turn.cancel", { threadId: thread.threadId })).error?.code).toBe(-32003);
    // In the source the turn still waits, and the answer counts there.
    expect(await client.events(threadId)).toEqual(before);
    await client.answer(params.requestId);
    await client.turnEnd(turnId);
    expect(tool.runs).toHaveLength(1);
  });

  it("is made once under one clientRequestId, also at another server after a restart", async () => {
    const store = createMemoryThreadStore();
    const { server, client, threadId, turn, fork } = await setUp({ store });
    await turn("one");
    const answers = await Promise.all([1, 2, 3].map(() => fork({ clientRequestId: "r" })));
    for (const { result } of answers) expect(result).toEqual(answers[0]?.result);
    expect((await client.call("thread.list")).result.threads).toHaveLength(2);
    expect((await fork({ clientRequestId: "r", seq: 1 })).error?.code).toBe(-32005);
    await server.close();
    const later = RawClient.connect(openServer({ runner: sayingRunner(), store }));
    const again = await later.call("thread.fork", { threadId, clientRequestId: "r" });
    expect(again.result).toEqual(answers[0]?.result);
  });

  it("refuses a seq that the source does not have with -32602", async () => {
    const { client, fork } = await setUp();
    for (const seq of [1e15, 0, 1.5]) expect((await fork({ seq })).error?.code).toBe(-32602);
    expect((await fork({ seq: 2 })).error?.data).toMatchObject({ reason: "seq_out_of_range", lastSeq: 1 });
    expect((await client.call("thread.list")).result.threads).toHaveLength(1);
  });
});

const inFiles = async () => {
  const root = await ownDirectory();
  return { open: () => createFileThreadStore({ root, isOwnerDead: () => true }) };
};

describe("a fork whose server ended while it copied", () => {
  it("is completed when it is used next, with the same events", async () => {
    const files = await inFiles();
    const inner = files.open();
    let writes = 0;
    let failsAt = Number.POSITIVE_INFINITY;
    const store = overriding(inner, {
      append: async (id, batch, options) => {
        if (batch[0]?.seq === 1 || batch.some(({ type }) => type === "thread.forked")) writes++;
        if (writes >= failsAt) throw new ThreadStoreError("store_full", "The disk is full");
        await inner.append(id, batch, options);
      },
    });
    const parts = Array.from({ length: 20 }, () => "part ".repeat(20));
    const { server, threadId, turn, fork } = await setUp({ store, runner: sayingRunner(...parts) });
    for (let index = 0; index < 25; index++) await turn(`turn ${index} ${"x".repeat(60_000)}`);
    const whole = (await fork()).result.thread;
    failsAt = writes + 2;
    expect((await fork({ clientRequestId: "r" })).error).toMatchObject({
      code: -32603,
      data: { reason: "store_full" },
    });
    await server.close();

    const later = files.open();
    const half = (await later.list()).find(
      (thread) => thread.threadId !== threadId && thread.threadId !== whole.threadId,
    );
    const halfId = half?.threadId ?? "";
    const partly = await readAll(later.events(halfId));
    expect(partly.length).toBeGreaterThan(0);
    expect(partly.at(-1)?.type).not.toBe("thread.forked");
    const next = openServer({ store: later, runner: sayingRunner() });
    const client = RawClient.connect(next);
    const { result } = await client.call("thread.fork", { threadId, clientRequestId: "r" });
    expect(result.thread.threadId).toBe(halfId);
    const copied = await readAll(later.events(halfId));
    const expected = inThread(await readAll(later.events(whole.threadId)), whole.threadId, halfId) as Event[];
    expect(copied.slice(1).map(({ seq, type, data }) => ({ seq, type, data }))).toEqual(
      expected.slice(1).map(({ seq, type, data }) => ({ seq, type, data })),
    );
  });

  it("is gone when its source is", async () => {
    const files = await inFiles();
    const store = files.open();
    const { server, threadId, turn } = await setUp({ store });
    await turn("one");
    await server.close();
    const source = files.open();
    const thread = await source.get(threadId);
    if (!thread) throw new Error("the source is not there");
    const fork = { ...thread, threadId: "ses_half", forkedFrom: { threadId, seq: 4 } };
    await source.create(fork);
    await source.lease(threadId);
    await source.delete(threadId);
    const client = RawClient.connect(openServer({ store: source, runner: sayingRunner() }));
    const { error } = await client.call("thread.get", { threadId: "ses_half" });
    expect(error).toMatchObject({ code: -32001, data: { reason: "source_gone" } });
    expect((await client.call("thread.list")).result.threads).toEqual([]);
  });
});

describe("a server that lets nothing go on", () => {
  it("renames a thread, and leaves its turn and its queue as they are", async () => {
    const tool = recordingTool("bash", "execute");
    const runner = callingRunner({ tool: "bash", input: { command: "ls" } });
    const files = await inFiles();
    const first = await setUp({ store: files.open(), runner, tools: [tool] });
    const { client, threadId } = first;
    await client.startTurn(threadId, "one");
    const { params } = await client.notification("approval.requested");
    await client.startTurn(threadId, "two", { whenBusy: "queue" });
    await first.server.close();
    const organising = openServer({ store: files.open(), runner, resumeQueues: "never" });
    const organiser = RawClient.connect(organising);
    const { result } = await organiser.call("thread.rename", { threadId, title: "New" });
    expect(result.thread).toMatchObject({ title: "New", queued: 1 });
    const busy = { code: -32002, data: { reason: "turn_active" } };
    expect((await organiser.call("thread.archive", { threadId })).error).toMatchObject(busy);
    expect((await organiser.call("thread.delete", { threadId })).error).toMatchObject(busy);
    await organising.close();
    const next = openServer({ store: files.open(), runner, tools: [tool] });
    const later = RawClient.connect(next);
    await later.answer(params.requestId);
    await later.until(({ method }) => method === "turn.completed");
    expect(tool.runs).toEqual([{ command: "ls" }]);
    await later.until(({ method, params: of }) => method === "turn.started" && of.threadId === threadId);
  });
});
