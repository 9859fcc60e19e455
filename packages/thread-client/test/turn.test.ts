import { ConnectionClosedError, createDeferred, InvalidArgumentError, ProtocolError } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import type { ApprovalHandler } from "../src/index.ts";
import { collect, eventsOf, failureOf } from "./sample-events.ts";
import { type ScriptedServer, setUp } from "./scripted-server.ts";

const threadId = "ses_1";
const turn = eventsOf(threadId, "turn_1");
const message = turn.message("item_1", "Hi there");
const events = [
  turn.started(),
  turn.itemStarted(turn.message("item_1", "")),
  turn.delta("item_1", "Hi "),
  turn.delta("item_1", "there"),
  turn.itemCompleted(message),
  turn.completed(),
];

const line = (message: unknown) => `${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`;
const notifications = () => events.map(({ type, data }) => line({ method: type, params: data })).join("");

describe("a turn", () => {
  it.each([
    ["in one chunk with the answer", Number.POSITIVE_INFINITY],
    ["byte by byte", 1],
  ])("gives every event when they arrive %s", async (_, chunkBytes) => {
    // The bytes are written by hand, so that the answer and all events are in one write.
    const raw = (server: ScriptedServer, id: unknown) =>
      server.wire.writeRaw(line({ id, result: { turnId: "turn_1" } }) + notifications());
    const handlers = {
      "turn.start": (_params: unknown, call: { id: unknown }, server: ScriptedServer) => {
        raw(server, call.id);
        return new Promise(() => {});
      },
    };
    const { client, server } = await setUp(handlers, { memory: { chunkBytes } });
    const handle = await client.startTurn({ threadId, input: "hello" });
    expect(handle).toMatchObject({ turnId: "turn_1", threadId });
    expect(await handle.result).toEqual({ status: "completed", turn: turn.turn("completed") });
    expect(await collect(handle)).toEqual(events);
    expect(await collect(handle)).toEqual([]);
    expect([handle.droppedDeltas, handle.droppedItems]).toEqual([0, 0]);
    server.wire.kill();
    await client.closed;
  });

  it("is not started with an option that there is not", async () => {
    const { client, server } = await setUp({});
    const given = { threadId, input: "hello", onApprove: () => "once" };
    for (const start of [client.startTurn(given), client.submitTurn(given), client.compactThread(given)])
      expect(await failureOf(start)).toMatchObject({ code: "invalid_argument" });
    expect(server.calls.map(({ method }) => method)).not.toContain("turn.start");
  });

  it("keeps its events when the connection closes right behind them", async () => {
    const { client, server } = await setUp({
      "turn.start": (_params, call, server) => {
        server.wire.writeRaw(line({ id: call.id, result: { turnId: "turn_1" } }) + notifications());
        server.wire.end();
        return new Promise(() => {});
      },
    });
    const handle = await client.startTurn({ threadId, input: "hello" });
    expect(await collect(handle)).toEqual(events);
    expect(await handle.result).toMatchObject({ status: "completed" });
    server.wire.kill();
    await client.closed;
  });

  it("tells how it ended: cancelled, or with an error that is no rejection", async () => {
    const { client, server } = await setUp();
    const first = await client.startTurn({ threadId, input: "a" });
    server.send(turn.started(), turn.completed("cancelled"));
    expect(await first.result).toEqual({ status: "cancelled", turn: turn.turn("cancelled") });
    const second = await client.startTurn({ threadId, input: "b" });
    const other = eventsOf(threadId, "turn_2");
    server.send(other.started(), other.failed("The model is away", "model_unavailable"));
    expect(await second.result).toEqual({
      status: "error",
      turn: other.turn("error"),
      error: "The model is away",
      code: "model_unavailable",
    });
    expect((await collect(second)).map(({ type }) => type)).toEqual(["turn.started", "turn.error"]);
  });

  it("ignores what comes after its end", async () => {
    const { client, server } = await setUp({ "thread.list": () => ({ threads: [] }) });
    const handle = await client.startTurn({ threadId, input: "a" });
    server.send(turn.completed(), turn.delta("item_1", "late"), turn.failed("late", "late"));
    expect(await collect(handle)).toEqual([turn.completed()]);
    await client.listThreads();
    expect(await handle.result).toMatchObject({ status: "completed" });
    expect(await collect(handle)).toEqual([]);
  });

  it("goes on where a loop was left, without being cancelled", async () => {
    const { client, server } = await setUp();
    const handle = await client.startTurn({ threadId, input: "a" });
    server.send(...events);
    for await (const event of handle) if (event.type === "item.delta") break;
    expect(await collect(handle)).toEqual(events.slice(3));
    expect(server.count("turn.cancel")).toBe(0);
  });

  it("has one reader at a time, and lets go of one that leaves while it waits", async () => {
    const { client, server } = await setUp();
    const handle = await client.startTurn({ threadId, input: "a" });
    const reader = handle[Symbol.asyncIterator]();
    const waiting = [reader.next(), reader.next()];
    expect(() => handle[Symbol.asyncIterator]()).toThrow(InvalidArgumentError);
    await reader.return?.();
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    server.send(...events);
    expect(await collect(handle)).toEqual(events);
  });

  it("fails with connection_closed when the connection is lost, after what had arrived", async () => {
    const { client, server } = await setUp();
    const handle = await client.startTurn({ threadId, input: "a" });
    const reader = handle[Symbol.asyncIterator]();
    server.send(turn.started());
    expect((await reader.next()).value).toEqual(turn.started());
    const next = failureOf(reader.next());
    server.wire.kill();
    expect(await next).toBeInstanceOf(ConnectionClosedError);
    const error = await failureOf(handle.result);
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(error).toMatchObject({ code: "connection_closed", cause: { code: "transport_failed" } });
    await expect(collect(handle)).rejects.toMatchObject({ code: "connection_closed" });
    await handle.cancel();
    await client.closed;
  });

  it("is refused as the server says, without losing the events of the turn that runs", async () => {
    let starts = 0;
    const { client } = await setUp({
      "turn.start": (_params, call, server) => {
        if (++starts === 1) {
          call.reply({ turnId: "turn_1" });
          server.send(events[0] ?? turn.started());
          return;
        }
        server.send(...events.slice(1));
        throw new ProtocolError(-32002, "Busy", { data: { turnId: "turn_1" } });
      },
    });
    const [first, second] = await Promise.allSettled([
      client.startTurn({ threadId, input: "a" }),
      client.startTurn({ threadId, input: "b" }),
    ]);
    expect(second).toMatchObject({
      status: "rejected",
      reason: { name: "ThreadError", code: "turn_busy", data: { turnId: "turn_1" } },
    });
    expect(first.status === "fulfilled" && (await collect(first.value))).toEqual(events);
  });

  it("keeps what arrives while one of two starts is refused before the other is answered", async () => {
    const first = createDeferred<{ turnId: string }>();
    let starts = 0;
    const { client, server } = await setUp({
      "thread.list": () => ({ threads: [] }),
      "turn.start": () => {
        if (++starts === 1) return first.promise;
        throw new ProtocolError(-32002, "Busy");
      },
    });
    const starting = client.startTurn({ threadId, input: "a" });
    await expect(client.startTurn({ threadId, input: "b" })).rejects.toMatchObject({ code: "turn_busy" });
    server.send(...events);
    await client.listThreads();
    first.resolve({ turnId: "turn_1" });
    expect(await collect(await starting)).toEqual(events);
  });

  it("refuses an answer that names a turn which runs already", async () => {
    const { client, server } = await setUp({ "turn.start": () => ({ turnId: "turn_1" }) });
    const handle = await client.startTurn({ threadId, input: "a" });
    await expect(client.startTurn({ threadId, input: "b" })).rejects.toMatchObject({
      name: "MalformedMessageError",
      code: "invalid_message",
    });
    server.send(...events);
    expect(await collect(handle)).toEqual(events);
  });

  it("drops deltas that nobody reads, counts them, and keeps the rest", async () => {
    const { client, server } = await setUp({}, { limits: { maxBufferedEvents: 8 } });
    const handle = await client.startTurn({ threadId, input: "a" });
    server.send(turn.started());
    for (let index = 0; index < 20; index++) server.send(turn.delta(`item_${index % 2}`, "x"));
    server.send(turn.itemCompleted(message), turn.completed());
    await handle.result;
    const read = await collect(handle);
    expect(read).toEqual([turn.started(), turn.itemCompleted(message), turn.completed()]);
    expect(handle.droppedDeltas).toBe(20);
    expect(handle.droppedItems).toBe(0);
  });

  it("reports once when more than deltas is lost, and still ends", async () => {
    const errors: unknown[] = [];
    const { client, server } = await setUp(
      {},
      { limits: { maxBufferedEvents: 4 }, onError: (error) => errors.push(error) },
    );
    const handle = await client.startTurn({ threadId, input: "a" });
    for (let index = 0; index < 10; index++)
      server.send(turn.itemCompleted(turn.message(`item_${index}`, "x")));
    server.send(turn.completed());
    await handle.result;
    expect((await collect(handle)).at(-1)).toEqual(turn.completed());
    expect(handle.droppedItems).toBe(6);
    expect(errors).toMatchObject([{ code: "buffer_full", limitName: "maxBufferedEvents", limit: 4 }]);
  });
});

describe("cancelling a turn", () => {
  const cancelling = { "turn.cancel": () => ({ ok: true }) };

  it("asks the server once at a time, and never after the end", async () => {
    const { client, server } = await setUp(cancelling);
    const handle = await client.startTurn({ threadId, input: "a" });
    await Promise.all([handle.cancel(), handle.cancel()]);
    expect(server.calls.at(-1)).toEqual({ method: "turn.cancel", params: { threadId } });
    expect(server.count("turn.cancel")).toBe(1);
    server.send(turn.completed("cancelled"));
    await handle.result;
    await handle.cancel();
    expect(server.count("turn.cancel")).toBe(1);
  });

  it("takes a turn that ended meanwhile for cancelled enough, and no other error", async () => {
    let code = -32003;
    const setup = await setUp({
      "turn.cancel": () => {
        throw new ProtocolError(code, "No");
      },
    });
    const handle = await setup.client.startTurn({ threadId, input: "a" });
    await handle.cancel();
    code = -32001;
    await expect(handle.cancel()).rejects.toMatchObject({ name: "ThreadError", code: "thread_not_found" });
  });

  it("cancels when the signal aborts, and forgets the signal at the end", async () => {
    const { client, server } = await setUp(cancelling);
    const abort = new AbortController();
    const handle = await client.startTurn({ threadId, input: "a", signal: abort.signal });
    const called = server.called("turn.cancel");
    abort.abort();
    await called;
    server.send(turn.completed("cancelled"));
    expect(await handle.result).toMatchObject({ status: "cancelled" });

    const late = new AbortController();
    const listened = vi.spyOn(late.signal, "addEventListener");
    const unlistened = vi.spyOn(late.signal, "removeEventListener");
    const second = await client.startTurn({ threadId, input: "b", signal: late.signal });
    server.send(eventsOf(threadId, "turn_2").completed());
    await second.result;
    expect(listened).toHaveBeenCalled();
    expect(unlistened.mock.calls.map(([, listener]) => listener)).toEqual(
      listened.mock.calls.map(([, listener]) => listener),
    );
    late.abort();
    await client.cancelTurn("ses_other");
    expect(server.count("turn.cancel")).toBe(2);
  });

  it("reports a signal's cancel that the server refuses", async () => {
    const reported = createDeferred<unknown>();
    const setup = await setUp(
      {
        "turn.cancel": () => {
          throw new ProtocolError(-32603, "No");
        },
      },
      { onError: reported.resolve },
    );
    const abort = new AbortController();
    await setup.client.startTurn({ threadId, input: "a", signal: abort.signal });
    abort.abort();
    expect(await reported.promise).toMatchObject({ name: "ProtocolError", code: "internal_error" });
  });

  it("gives up at once when the signal aborts during the start, cancels the turn, and asks nobody", async () => {
    const asked: string[] = [];
    const onApproval: ApprovalHandler = ({ requestId }) => {
      asked.push(requestId);
      return "once";
    };
    const reply = createDeferred<{ turnId: string }>();
    const { client, server } = await setUp(
      { ...cancelling, "turn.start": () => reply.promise },
      { onApproval },
    );
    const abort = new AbortController();
    const started = server.called("turn.start");
    const failure = failureOf(client.startTurn({ threadId, input: "a", signal: abort.signal, onApproval }));
    await started;
    abort.abort();
    expect(await failure).toMatchObject({ name: "RequestCancelledError", code: "request_cancelled" });
    expect(server.count("turn.cancel")).toBe(0);
    const cancelled = server.called("turn.cancel");
    reply.resolve({ turnId: "turn_1" });
    server.send(await turn.approvalRequested("req_1"));
    expect(await cancelled).toEqual({ method: "turn.cancel", params: { threadId } });
    const answered = server.called("approval.respond");
    server.send(await eventsOf("ses_2", "turn_9").approvalRequested("req_2"));
    expect((await answered).params).toEqual({ requestId: "req_2", decision: "once" });
    await client.cancelTurn(threadId);
    expect(asked).toEqual(["req_2"]);
    expect(server.count("approval.respond")).toBe(1);
  });
});
