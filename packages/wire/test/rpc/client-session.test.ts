import { describe, expect, it } from "vitest";
import { nextTurn, rejection } from "../../../../test-kit/test-kit.ts";
import { ConnectionClosedError, type HarnessError, ProtocolError, TransportError } from "../../src/index.ts";
import type { ClientSessionOptions } from "../../src/rpc/client-session-options.ts";
import {
  ClientSession,
  type ReconnectOptions,
  type RpcConnection,
  resolveReconnect,
  type SessionState,
} from "../../src/rpc/index.ts";
import { createManualClock } from "../../src/testing/index.ts";

interface FakeConnection extends RpcConnection {
  readonly number: number;
  isClosed: boolean;
  /** Ends as a connection that is lost. */
  lose(error?: HarnessError): void;
}

type Step = "ok" | "refused" | "not_introduced" | "hang";

/** A session with one step of the script for each attempt; the last one repeats. */
const sessionOf = (
  script: Step[] = ["ok"],
  reconnect: false | ReconnectOptions = { initialDelayMs: 100, maxDelayMs: 100, random: () => 1 },
  more: Partial<
    Pick<
      ClientSessionOptions<FakeConnection, string>,
      "closesWhenLost" | "maxInFlight" | "recover" | "onListenerFailed"
    >
  > = {},
  answer: (method: string, connection: FakeConnection) => unknown = (method) => `answer to ${method}`,
) => {
  const clock = createManualClock();
  const connections: FakeConnection[] = [];
  const states: SessionState[] = [];
  const failures: string[] = [];
  let attempts = 0;
  const session = new ClientSession<FakeConnection, string>({
    clock,
    reconnect: resolveReconnect(reconnect),
    timeoutMs: () => 1000,
    ...more,
    async open(_signal, onOver) {
      const step = script[Math.min(attempts++, script.length - 1)];
      if (step === "refused") throw new TransportError("connection refused");
      if (step === "hang") await new Promise(() => {});
      const connection: FakeConnection = {
        number: connections.length + 1,
        isClosed: false,
        request: async (method) => answer(method, connection),
        notify: async () => {},
        close: () => {
          connection.isClosed = true;
        },
        lose: (error) => onOver(error),
      };
      connections.push(connection);
      return connection;
    },
    async introduce({ number }) {
      if (script[Math.min(attempts - 1, script.length - 1)] === "not_introduced") {
        throw new TransportError("who are you?");
      }
      return `introduction ${number}`;
    },
    isFinal: (error) => (error as Error).message === "who are you?",
    onState: (state) => states.push(state),
    onAttemptFailed: (error) => failures.push(error.code),
  });
  return { session, clock, connections, states, failures, attempts: () => attempts };
};

describe("connecting", () => {
  it("opens nothing before, and one connection for callers at the same time", async () => {
    const { session, connections, attempts } = sessionOf();
    expect([session.state, attempts()]).toEqual(["new", 0]);
    const [first, second] = await Promise.all([session.connect(), session.connect()]);
    expect(first).toBe(second);
    expect(first).toMatchObject({ introduction: "introduction 1" });
    expect(connections).toHaveLength(1);
    expect(await session.connect()).toBe(first);
  });

  it("rejects as the attempt did, closes what it opened, and can be called again", async () => {
    const { session, connections } = sessionOf(["refused", "not_introduced", "ok"]);
    expect(await rejection(session.connect())).toMatchObject({ message: "connection refused" });
    expect(await rejection(session.connect())).toMatchObject({ message: "who are you?" });
    expect(connections[0]?.isClosed).toBe(true);
    expect(session.state).toBe("new");
    expect((await session.connect()).connection.number).toBe(2);
  });

  it("keeps the limits of each caller, and gives up when no caller is left", async () => {
    const { session, clock, attempts } = sessionOf(["hang", "ok"]);
    const abort = new AbortController();
    const cancelled = rejection(session.connect({ signal: abort.signal }));
    const late = rejection(session.connect({ timeoutMs: 10 }));
    abort.abort();
    expect(await cancelled).toMatchObject({ code: "request_cancelled" });
    clock.advance(10);
    expect(await late).toMatchObject({ code: "request_timeout" });
    await session.connect();
    expect(attempts()).toBe(2);
  });

  it("with retry tries again with backoff, while calls wait", async () => {
    const { session, clock, states, failures } = sessionOf(["refused", "refused", "ok"]);
    const connecting = session.connect({ retry: true });
    const waiting = session.whenReady();
    for (let attempt = 0; attempt < 2; attempt++) {
      await nextTurn();
      clock.advance(100);
    }
    expect(await waiting).toBe(await connecting);
    expect(states).toEqual(["connecting", "ready"]);
    expect(failures).toEqual(["transport_failed", "transport_failed"]);
  });
});

describe("a lost connection", () => {
  it("is replaced, and calls wait for the next one", async () => {
    const { session, clock, connections, states } = sessionOf();
    await session.connect();
    connections[0]?.lose(new TransportError("reset"));
    expect([session.state, session.ready, session.introduction]).toEqual([
      "reconnecting",
      undefined,
      "introduction 1",
    ]);
    const waiting = session.whenReady();
    await nextTurn();
    clock.advance(100);
    expect((await waiting).connection.number).toBe(2);
    expect(states).toEqual(["ready", "reconnecting", "ready"]);
    expect(session.stats()).toEqual({ reconnects: 1, inFlight: 0 });
    connections[0]?.lose();
    expect(session.state).toBe("ready");
  });

  it("that comes back without an answer counts as a failed attempt, until one is confirmed", async () => {
    const { session, clock, connections } = sessionOf(["ok"], {
      initialDelayMs: 0,
      maxDelayMs: 60_000,
      maxAttempts: 2,
    });
    await session.connect();
    const loseOnce = async () => {
      connections.at(-1)?.lose();
      await nextTurn();
      clock.advance(0);
      await nextTurn();
    };
    for (let round = 0; round < 5; round++) {
      const { connection } = await session.whenReady();
      session.confirm(connection);
      await loseOnce();
    }
    await loseOnce();
    expect(session.state).toBe("ready");
    await loseOnce();
    expect(session.state).toBe("lost");
  });

  it("is lost for good after the last attempt, with the reason, and connects anew on demand", async () => {
    const { session, clock, connections } = sessionOf(["ok", "refused", "refused", "ok"], {
      initialDelayMs: 10,
      maxDelayMs: 10,
      maxAttempts: 2,
    });
    await session.connect();
    connections[0]?.lose();
    const waiting = rejection(session.whenReady());
    for (let attempt = 0; attempt < 2; attempt++) {
      await nextTurn();
      clock.advance(10);
    }
    const expected = { code: "connection_closed", cause: { message: "connection refused" } };
    expect(await waiting).toMatchObject(expected);
    expect(session.state).toBe("lost");
    expect(await rejection(session.whenReady())).toMatchObject(expected);
    await session.connect();
    expect(session.state).toBe("ready");
  });

  it("is waited for no longer than the call and waitMs allow, and by a limited number of calls", async () => {
    const { session, clock, connections } = sessionOf(
      ["ok", "hang"],
      { initialDelayMs: 100, maxDelayMs: 100, waitMs: 50 },
      { maxInFlight: 1 },
    );
    await session.connect();
    connections[0]?.lose();
    const hasty = rejection(session.whenReady({ timeoutMs: 20 }));
    const patient = rejection(session.request("m", {}, { timeoutMs: 1000 }));
    expect(await rejection(session.request("m", {}))).toMatchObject({ code: "buffer_full" });
    clock.advance(20);
    expect(await hasty).toMatchObject({ code: "request_timeout" });
    clock.advance(30);
    expect(await patient).toMatchObject({ code: "request_timeout" });
    expect(await rejection(session.whenReady())).toMatchObject({ code: "request_timeout" });
  });

  it("is the end without reconnect; a session that closes when lost says why", async () => {
    const lost = sessionOf(["ok"], false);
    await lost.session.connect();
    lost.connections[0]?.lose();
    expect(lost.session.state).toBe("lost");
    const reset = new TransportError("reset");
    const closed = sessionOf(["ok"], false, { closesWhenLost: true });
    await closed.session.connect();
    closed.connections[0]?.lose(reset);
    expect(closed.states).toEqual(["ready", "closed"]);
    expect(await closed.session.closed).toEqual({ error: reset });
    expect(await rejection(closed.session.connect())).toMatchObject({
      code: "connection_closed",
      cause: reset,
    });
  });
});

describe("a connection in use", () => {
  it("can be dropped by a call that failed over it, once", async () => {
    const { session, connections } = sessionOf();
    const { connection } = await session.connect();
    session.drop(connection, new ConnectionClosedError());
    expect([session.state, connections[0]?.isClosed]).toEqual(["reconnecting", true]);
    session.drop(connection, new ConnectionClosedError());
    expect(session.state).toBe("reconnecting");
  });
});

describe("a call", () => {
  const quick = { initialDelayMs: 0, maxDelayMs: 0, random: () => 1 };

  it("that was sent and lost its connection is sent again only as often as it may be", async () => {
    const sent: number[] = [];
    const { session, clock } = sessionOf(["ok"], quick, {}, (_method, { number }) => {
      sent.push(number);
      throw new TransportError("reset");
    });
    await session.connect();
    expect(await rejection(session.request("once", {}))).toMatchObject({ code: "transport_failed" });
    expect([sent, session.state]).toEqual([[1], "reconnecting"]);
    const repeated = rejection(session.request("twice", {}, { maxAttempts: 2 }));
    for (let round = 0; round < 2; round++) {
      clock.advance(0);
      await nextTurn();
    }
    expect(await repeated).toMatchObject({ code: "transport_failed" });
    expect(sent).toEqual([1, 2, 3]);
  });

  it("that was refused for what can be mended is sent once more, and not for ever", async () => {
    const sent: string[] = [];
    const refusal = new ProtocolError(-32600, "who are you?");
    const recovered: unknown[] = [];
    const more = {
      recover: async (error: unknown) => {
        recovered.push(error);
        return true;
      },
    };
    const { session } = sessionOf(["ok"], quick, more, (method) => {
      sent.push(method);
      if (method === "always" || sent.length === 1) throw refusal;
      return "done";
    });
    await session.connect();
    expect(await session.request("first", {})).toBe("done");
    expect(await rejection(session.request("always", {}))).toBe(refusal);
    expect(sent).toEqual(["first", "first", "always", "always"]);
    expect(recovered).toEqual([refusal, refusal]);
  });

  it("that may not be sent is refused by its caller's own check, each time before it is sent", async () => {
    const { session } = sessionOf();
    await session.connect();
    const refusal = new TransportError("too deep");
    const beforeSend = () => {
      throw refusal;
    };
    expect(await rejection(session.request("m", {}, { beforeSend }))).toBe(refusal);
    expect([session.state, session.stats().inFlight]).toEqual(["ready", 0]);
  });
});

describe("a listener of the state", () => {
  it("that throws is reported and disturbs no other; one that is removed is called no more", async () => {
    const failures: HarnessError[] = [];
    const states: SessionState[] = [];
    const { session } = sessionOf(["ok"], false, { onListenerFailed: (error) => failures.push(error) });
    session.onState(() => {
      throw new RangeError("a bug");
    });
    const remove = session.onState((state) => states.push(state));
    await session.connect();
    remove();
    await session.close();
    expect(states).toEqual(["ready"]);
    expect(failures.map(({ code }) => code)).toEqual(["handler_failed", "handler_failed"]);
  });
});

describe("closing", () => {
  it.each(["hang", "refused"] as const)("settles what waits, at once (%s)", async (step) => {
    const { session, connections, states } = sessionOf(["ok", step]);
    await session.connect();
    connections[0]?.lose();
    const waiting = rejection(session.whenReady());
    await Promise.all([session.close(), session.close()]);
    expect(await waiting).toMatchObject({ code: "connection_closed" });
    expect(await session.closed).toEqual({});
    expect(states.at(-1)).toBe("closed");
    expect(await rejection(session.connect())).toMatchObject({ code: "connection_closed" });
  });

  it("closes the connection, and one that is opened too late", async () => {
    const { session, connections } = sessionOf();
    const connecting = rejection(session.connect());
    await session.close();
    expect(await connecting).toMatchObject({ code: "connection_closed" });
    await nextTurn();
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true]);
  });
});
