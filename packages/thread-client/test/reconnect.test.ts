import { setImmediate } from "node:timers/promises";
import type { EventBody } from "@harnesskit/protocol/threads";
import {
  createDeferred,
  type HarnessError,
  ProtocolError,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { SessionState, ThreadClient, ThreadClientOptions, ThreadEvent } from "../src/index.ts";
import { createInstantClock } from "./cut-transport.ts";
import { collect, eventsOf, failureOf, sampleThread } from "./sample-events.ts";
import { capabilities, connectClient, type Handler, ScriptedServer } from "./scripted-server.ts";

const threadId = "ses_1";
const turn = eventsOf(threadId, "turn_1");
const thread = sampleThread(threadId);
const extensions = { subscribe: true, clientRequestId: true, grants: true, delete: true, paging: true };
const ok = () => ({ ok: true });

const numbered = (event: EventBody, seq: number): EventBody =>
  ({ ...event, data: { ...event.data, seq, time: seq } }) as EventBody;

/** A server with the extensions, whose log ends at `lastSeq`; `past` is what it sends after its answer. */
const serverOf = (handlers: Record<string, Handler> = {}, lastSeq = 0, past: EventBody[] = []) =>
  new ScriptedServer({
    initialize: () => ({ version: "1.0.0", capabilities: { ...capabilities, extensions } }),
    "thread.unsubscribe": ok,
    "thread.subscribe": (_params, call, server) => {
      call.reply({ thread, lastSeq });
      server.send(...past);
    },
    ...handlers,
  });

/** Leads to one server after the other; an error instead of one fails the connect, and so does the end of the list. */
const transportTo = (servers: readonly (ScriptedServer | Error)[]): Transport => {
  let next = 0;
  return {
    connect: () => {
      const server = servers[next++] ?? new TransportError("nobody is there");
      return server instanceof Error ? Promise.reject(server) : server.transport.connect();
    },
  };
};

const connect = async (
  servers: readonly (ScriptedServer | Error)[],
  options: Partial<ThreadClientOptions> = {},
) => {
  const clock = createInstantClock();
  const states: SessionState[] = [];
  const errors: HarnessError[] = [];
  const client = await connectClient({
    transport: transportTo(servers),
    clock,
    reconnect: { maxAttempts: 3, initialDelayMs: 100, maxDelayMs: 250, random: () => 0.5 },
    onError: (error) => errors.push(error),
    ...options,
  });
  client.onState((state) => states.push(state));
  return { client, clock, states, errors };
};

const reached = (client: ThreadClient, state: SessionState): Promise<void> =>
  new Promise((resolve) => {
    if (client.state === state) resolve();
    else
      client.onState((now) => {
        if (now === state) resolve();
      });
  });

const lost = (server: ScriptedServer) => server.wire.kill();

const take = async (events: AsyncIterator<ThreadEvent>, count: number): Promise<ThreadEvent[]> => {
  const taken: ThreadEvent[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
};

describe("following over a loss", () => {
  it("drops what it heard before, and what a new connection tells before the subscription", async () => {
    const first = serverOf({}, 3);
    const replayed = [turn.delta("item_1", "b"), turn.delta("item_1", "c"), turn.completed()];
    // Like a real one, it tells of all threads until it is told otherwise.
    let hearsAll = true;
    const tellAll = (server: ScriptedServer) => {
      if (hearsAll) server.send(numbered(turn.completed(), 7));
    };
    const second = serverOf({
      "thread.unsubscribe": (_params, _call, server) => {
        tellAll(server);
        hearsAll = false;
        return { ok: true };
      },
      "thread.subscribe": (_params, call, server) => {
        tellAll(server);
        call.reply({ thread, lastSeq: 7 });
        server.send(
          numbered(turn.delta("item_1", "a"), 4),
          ...replayed.map((event, index) => numbered(event, 5 + index)),
        );
      },
    });
    const { client, states } = await connect([first, second]);
    const subscription = await client.subscribe(threadId);
    expect(subscription).toMatchObject({ threadId, thread, lastSeq: 3 });
    const events = subscription[Symbol.asyncIterator]();
    first.send(numbered(turn.delta("item_1", "a"), 4));
    expect(await take(events, 1)).toEqual([{ seq: 4, time: 4, ...turn.delta("item_1", "a") }]);
    lost(first);
    expect(await take(events, 3)).toEqual(
      replayed.map((event, index) => ({ seq: 5 + index, time: 5 + index, ...event })),
    );
    await reached(client, "ready");
    expect(second.calls.find(({ method }) => method === "thread.subscribe")?.params).toEqual({
      threadId,
      afterSeq: 4,
      afterTime: 4,
    });
    expect(states).toEqual(["reconnecting", "ready"]);
    await client.close();
    expect(states).toEqual(["reconnecting", "ready", "closed"]);
    expect(client.state).toBe("closed");
  });

  it("asks once for an approval that is told again, and sends the answer over the new connection", async () => {
    const requested = await turn.approvalRequested("apr_1");
    const first = serverOf({}, 1);
    const second = serverOf({ "approval.respond": ok }, 2, [requested]);
    const decision = createDeferred<"once">();
    const asked: string[] = [];
    const called = createDeferred<void>();
    const { client, errors } = await connect([first, second], {
      onApproval: ({ requestId }) => {
        asked.push(requestId);
        called.resolve();
        return decision.promise;
      },
    });
    const events = (await client.subscribe(threadId))[Symbol.asyncIterator]();
    first.send(numbered(requested, 2));
    await called.promise;
    lost(first);
    await reached(client, "ready");
    const answered = second.called("approval.respond");
    decision.resolve("once");
    const { digest } = requested.data.metadata;
    expect((await answered).params).toEqual({
      requestId: "apr_1",
      decision: "once",
      digest,
      clientRequestId: expect.stringMatching(/^req_/),
    });
    second.send(numbered(turn.completed(), 3));
    expect((await take(events, 2)).map(({ type }) => type)).toEqual(["approval.requested", "turn.completed"]);
    expect(asked).toEqual(["apr_1"]);
    expect(errors).toEqual([]);
  });

  it("sends again under the same id what has one, and rejects the rest", async () => {
    const never = () => new Promise(() => {});
    const first = serverOf({ "turn.start": never, "thread.create": never, "thread.list": never });
    const second = serverOf({ "thread.create": () => ({ thread }) });
    const { client } = await connect([first, second]);
    const arrived = Promise.all(["turn.start", "thread.create", "thread.list"].map((m) => first.called(m)));
    const starting = client.startTurn({ threadId, input: "a" });
    const creating = client.createThread({ title: "T" });
    const listing = failureOf(client.listThreads());
    await arrived;
    lost(first);
    expect(await listing).toMatchObject({ name: "ConnectionClosedError", code: "connection_closed" });
    expect(await creating).toEqual(thread);
    expect((await starting).turnId).toBe("turn_1");
    for (const method of ["turn.start", "thread.create"]) {
      const [before, after] = [first, second].map((s) => s.calls.find((call) => call.method === method));
      expect(before?.params).toMatchObject({ clientRequestId: expect.any(String) });
      expect(after).toEqual(before);
    }
  });

  it("gives up a turn whose thread is lost with the connection", async () => {
    const first = serverOf({ "turn.start": () => new Promise(() => {}) }, 5);
    // A server that has forgotten the thread's log, and knows the thread.
    const second = serverOf({}, 0);
    const { client } = await connect([first, second]);
    const arrived = first.called("turn.start");
    const starting = client.startTurn({ threadId, input: "a" });
    await arrived;
    lost(first);
    const handle = await starting;
    expect(await failureOf(handle.result)).toMatchObject({
      name: "LogWentBackError",
      code: "log_went_back",
    });
  });

  it("lets calls wait for the new connection, and cancels a turn over the loss", async () => {
    const first = serverOf({ "turn.cancel": () => new Promise(() => {}) });
    const second = serverOf({ "turn.cancel": ok, "thread.list": () => ({ threads: [thread] }) });
    const { client } = await connect([first, second]);
    const abort = new AbortController();
    const handle = await client.startTurn({ threadId, input: "a", signal: abort.signal });
    const cancelling = first.called("turn.cancel");
    abort.abort();
    await cancelling;
    const again = second.called("turn.cancel");
    lost(first);
    await reached(client, "reconnecting");
    expect(await client.listThreads()).toEqual({ threads: [thread] });
    await again;
    second.send(numbered(turn.completed("cancelled"), 1));
    expect(await handle.result).toMatchObject({ status: "cancelled" });
  });
});

describe("a log that went back", () => {
  const wentBack = { name: "LogWentBackError", code: "log_went_back", threadId };

  it("is told, when the server says that the event heard last is another one there", async () => {
    const first = serverOf({}, 3);
    const refusing = serverOf({
      "thread.subscribe": ({ afterTime }) => {
        if (afterTime !== undefined)
          throw new ProtocolError(-32602, "another log", { data: { reason: "log_went_back" } });
        return { thread, lastSeq: 20 };
      },
    });
    const { client } = await connect([first, refusing]);
    const events = (await client.subscribe(threadId))[Symbol.asyncIterator]();
    first.send(numbered(turn.started(), 4));
    await take(events, 1);
    lost(first);
    expect(await failureOf(events.next())).toMatchObject({ ...wentBack, cause: { rpcCode: -32602 } });
    await reached(client, "ready");
    // Asked for anew, without a place in the old log, the thread can be followed.
    expect((await client.subscribe(threadId)).lastSeq).toBe(20);
  });

  it("compares the last event of the past too, of which only the answer told the time", async () => {
    const first = serverOf({
      "thread.subscribe": () => ({ thread, lastSeq: 3, lastTime: 33 }),
    });
    const second = serverOf({}, 3);
    const { client } = await connect([first, second]);
    await client.subscribe(threadId);
    const asked = second.called("thread.subscribe");
    lost(first);
    expect((await asked).params).toEqual({ threadId, afterSeq: 3, afterTime: 33 });
  });

  it("is told, when a server begins to write another log under a subscription", async () => {
    const server = serverOf({}, 3);
    const { client } = await connect([server]);
    const events = (await client.subscribe(threadId))[Symbol.asyncIterator]();
    server.send(numbered(turn.started(), 4), numbered(turn.started(), 4));
    await take(events, 1);
    const later = { ...turn.started().data, seq: 2, time: 9 };
    server.notify("turn.started", later);
    expect(await failureOf(events.next())).toMatchObject(wentBack);
  });
});

describe("giving up", () => {
  it("backs off with jitter, and then rejects everything with the last cause", async () => {
    const first = serverOf();
    const { client, clock, states } = await connect([first]);
    const handle = await client.startTurn({ threadId, input: "a" });
    const reading = failureOf(collect(await client.subscribe(threadId)));
    lost(first);
    await reached(client, "reconnecting");
    const waiting = failureOf(client.getThread(threadId));
    const expected = {
      name: "ConnectionClosedError",
      code: "connection_closed",
      cause: { name: "TransportError", code: "transport_failed" },
    };
    expect(await waiting).toMatchObject(expected);
    expect(await reading).toMatchObject(expected);
    expect(await failureOf(handle.result)).toMatchObject(expected);
    expect(await failureOf(client.subscribe(threadId))).toMatchObject(expected);
    expect(await client.closed).toMatchObject({ error: expected });
    expect(clock.delaysMs).toEqual([75, 150, 187.5]);
    expect(states).toEqual(["reconnecting", "closed"]);
  });

  it("stops at a server of another version, or without subscriptions", async () => {
    for (const [initialized, code] of [
      [{ version: "2.0.0", capabilities }, "version_mismatch"],
      [{ version: "1.0.0", capabilities }, "unsupported"],
    ] as const) {
      const first = serverOf();
      const { client, clock } = await connect([first, serverOf({ initialize: () => initialized })]);
      lost(first);
      expect(await client.closed).toMatchObject({ error: { code: "connection_closed", cause: { code } } });
      expect(clock.delaysMs).toHaveLength(1);
    }
  });

  it("goes on trying while a thread cannot be subscribed to yet, and gives up a thread that is gone", async () => {
    const refuse = (code: number) => () => {
      throw new ProtocolError(code, "Not now");
    };
    const first = serverOf();
    const busy = serverOf({ "thread.subscribe": refuse(-32002) });
    const gone = serverOf({}, 0);
    const { client } = await connect([first, busy, gone]);
    const subscription = await client.subscribe(threadId);
    const events = subscription[Symbol.asyncIterator]();
    first.send(numbered(turn.started(), 4));
    await take(events, 1);
    lost(first);
    // The log of the last server ends before what was heard: it is another thread.
    expect(await failureOf(events.next())).toMatchObject({
      name: "LogWentBackError",
      code: "log_went_back",
    });
    await reached(client, "ready");
    expect(busy.count("thread.subscribe")).toBe(1);
  });

  it("ends at once when the client is closed meanwhile", async () => {
    const first = serverOf();
    const connecting = createDeferred<AbortSignal | undefined>();
    const { client } = await connect([], {
      transport: {
        connect: ({ signal } = {}) => {
          if (first.count("initialize") === 0) return first.transport.connect();
          connecting.resolve(signal);
          return new Promise(() => {});
        },
      },
    });
    lost(first);
    const signal = await connecting.promise;
    const waiting = failureOf(client.listThreads());
    await client.close();
    expect(signal?.aborted).toBe(true);
    expect(await waiting).toMatchObject({ code: "connection_closed" });
    expect(client.state).toBe("closed");
  });

  it("lets calls and new subscriptions wait no longer than `waitMs`, while it goes on trying", async () => {
    const first = serverOf();
    const clock = createManualClock();
    const client = await connectClient({
      transport: {
        connect: () => (first.count("initialize") === 0 ? first.transport.connect() : new Promise(() => {})),
      },
      clock,
      reconnect: { maxAttempts: Number.POSITIVE_INFINITY, waitMs: 50 },
    });
    lost(first);
    await reached(client, "reconnecting");
    const failed = Promise.all([failureOf(client.listThreads()), failureOf(client.subscribe(threadId))]);
    await setImmediate();
    clock.advance(50);
    const late = { code: "request_timeout" };
    expect(await failed).toMatchObject([late, late]);
    expect(client.state).toBe("reconnecting");
  });
});

describe("a server without extensions", () => {
  const plain = () =>
    new ScriptedServer({ "thread.list": () => ({ threads: [] }), "thread.create": () => ({ thread }) });

  it("loses its turns with the connection, and is called again", async () => {
    const [first, second] = [plain(), plain()];
    const { client } = await connect([first, second]);
    const handle = await client.startTurn({ threadId, input: "a" });
    lost(first);
    expect(await failureOf(handle.result)).toMatchObject({ code: "connection_closed" });
    expect(await client.listThreads()).toEqual({ threads: [] });
    await client.createThread();
    expect(first.calls.map(({ method }) => method)).toEqual(["initialize", "turn.start"]);
    expect(second.calls.at(-1)).toEqual({ method: "thread.create", params: {} });
  });
});
