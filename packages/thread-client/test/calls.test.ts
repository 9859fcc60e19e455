import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import {
  ConnectionClosedError,
  ProtocolError,
  RequestCancelledError,
  RequestTimeoutError,
} from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { MalformedMessageError, type ThreadClient, ThreadError } from "../src/index.ts";
import { eventsOf, failureOf, sampleThread } from "./sample-events.ts";
import { setUp } from "./scripted-server.ts";

describe("the calls", () => {
  it("sends exactly what was given and gives what the server answered", async () => {
    const thread = sampleThread("ses_1");
    const { client, server } = await setUp({
      "thread.create": () => ({ thread: { ...thread, colour: "red" } }),
      "thread.list": () => ({ threads: [thread], total: 1 }),
      "turn.cancel": () => ({ ok: true }),
      "approval.respond": () => ({ ok: true }),
    });
    expect(await client.createThread()).toEqual(thread);
    expect(await client.createThread({ title: "T", directory: "/repo" })).toEqual(thread);
    expect(await client.listThreads()).toEqual({ threads: [thread] });
    await client.cancelTurn("ses_1");
    await client.respondApproval("req_1", "always");
    await client.startTurn({ threadId: "ses_1", input: "hello" });
    await client.startTurn({
      threadId: "ses_1",
      input: [{ type: "file", path: "a.txt" }],
      model: { providerID: "p", modelID: "m" },
      agent: "code",
    });
    expect(server.calls.slice(1)).toEqual([
      { method: "thread.create", params: {} },
      { method: "thread.create", params: { title: "T", directory: "/repo" } },
      { method: "thread.list", params: {} },
      { method: "turn.cancel", params: { threadId: "ses_1" } },
      { method: "approval.respond", params: { requestId: "req_1", decision: "always" } },
      { method: "turn.start", params: { threadId: "ses_1", input: [{ type: "text", text: "hello" }] } },
      {
        method: "turn.start",
        params: {
          threadId: "ses_1",
          input: [{ type: "file", path: "a.txt" }],
          model: { providerID: "p", modelID: "m" },
          agent: "code",
        },
      },
    ]);
  });

  it.each([
    [-32001, "thread_not_found", true],
    [-32002, "turn_busy", true],
    [-32003, "turn_not_found", true],
    [-32004, "approval_not_found", true],
    [JsonRpcErrorCode.InvalidParams, "invalid_params", false],
    [JsonRpcErrorCode.InternalError, "internal_error", false],
    [JsonRpcErrorCode.MethodNotFound, "method_not_found", false],
    [-32099, "protocol_error", false],
  ])("names the server's error %i %s and keeps its data", async (rpcCode, code, isOfThreads) => {
    const setup = await setUp({
      "thread.list": () => {
        throw new ProtocolError(rpcCode, "No", { data: { reason: "because" } });
      },
    });
    const error = await failureOf(setup.client.listThreads());
    expect(ProtocolError.isInstance(error)).toBe(true);
    expect(ThreadError.isInstance(error)).toBe(isOfThreads);
    expect(error).toMatchObject({ code, rpcCode, message: "No", data: { reason: "because" } });
  });

  it("tells a timeout, a caller's abort and a lost connection apart", async () => {
    const clock = createManualClock();
    const { client, server } = await setUp({ "thread.list": () => new Promise(() => {}) }, { clock });
    const listed = async () => {
      const called = server.called("thread.list");
      const abort = new AbortController();
      const failure = failureOf(client.listThreads({ timeoutMs: 50, signal: abort.signal }));
      await called;
      return { failure, abort };
    };
    const late = await listed();
    clock.advance(50);
    expect(await late.failure).toBeInstanceOf(RequestTimeoutError);
    const given = await listed();
    given.abort.abort();
    expect(await given.failure).toBeInstanceOf(RequestCancelledError);
    const lost = await listed();
    server.wire.kill();
    const error = await lost.failure;
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(error).toMatchObject({ code: "connection_closed", cause: { code: "transport_failed" } });
    expect(await client.closed).toMatchObject({ error: { code: "transport_failed" } });
  });

  const malformedResults: [string, unknown, (client: ThreadClient) => Promise<unknown>][] = [
    ["thread.create", { thread: { threadId: 1 } }, (client) => client.createThread()],
    ["thread.list", { threads: {} }, (client) => client.listThreads()],
    ["thread.list", null, (client) => client.listThreads()],
    ["thread.get", [], (client) => client.getThread("ses_1")],
    ["thread.get", { thread: sampleThread("ses_1"), events: [null] }, (client) => client.getThread("ses_1")],
    ["thread.get", { thread: sampleThread("ses_1") }, (client) => client.getThread("ses_1")],
    ["turn.start", { turnId: 7 }, (client) => client.startTurn({ threadId: "ses_1", input: "x" })],
    ["turn.cancel", { ok: false }, (client) => client.cancelTurn("ses_1")],
    ["approval.respond", "ok", (client) => client.respondApproval("req_1", "once")],
  ];

  it.each(malformedResults)("refuses a malformed result of %s: %j", async (method, result, call) => {
    const setup = await setUp({ [method]: () => result });
    const error = await failureOf(call(setup.client));
    expect(error).toBeInstanceOf(MalformedMessageError);
    expect(error).toMatchObject({ code: "invalid_message", method });
  });
});

describe("getThread", () => {
  const turn = eventsOf("ses_1", "turn_1");
  const numbered = (seq: number, event: { type: string; data: unknown }) => ({ seq, time: 5, ...event });

  it("asks for a page and leaves out what this version does not know", async () => {
    const events = [
      numbered(3, turn.started()),
      numbered(4, { type: "turn.paused", data: { anything: true } }),
      numbered(5, turn.completed()),
      numbered(6, { type: "toString", data: {} }),
    ];
    const setup = await setUp({ "thread.get": () => ({ thread: sampleThread("ses_1"), events }) });
    const history = await setup.client.getThread("ses_1", { afterSeq: 2, limit: 4, timeoutMs: 1000 });
    expect(setup.server.calls[1]?.params).toEqual({ threadId: "ses_1", afterSeq: 2, limit: 4 });
    expect(history.events).toEqual([events[0], events[2]]);
    expect(history).toMatchObject({ lastSeq: 6, thread: sampleThread("ses_1") });
  });

  it("says that there is nothing more", async () => {
    const setup = await setUp({ "thread.get": () => ({ thread: sampleThread("ses_1"), events: [] }) });
    expect(await setup.client.getThread("ses_1")).toEqual({
      thread: sampleThread("ses_1"),
      events: [],
      lastSeq: 0,
    });
  });

  it("refuses a known event that is malformed", async () => {
    const events = [numbered(1, { type: "turn.started", data: { threadId: "ses_1" } })];
    const setup = await setUp({ "thread.get": () => ({ thread: sampleThread("ses_1"), events }) });
    await expect(setup.client.getThread("ses_1")).rejects.toMatchObject({
      name: "MalformedMessageError",
      code: "invalid_message",
      message: expect.stringContaining("events.0.data"),
    });
  });
});
