import { FrameTooLargeError, HarnessError, TransportError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { type AhpClientOptions, type AhpExchange, createAhpClient } from "../src/index.ts";
import { ahpFailureOf, base, decideFull, notifyFull, watcher } from "./support/client.ts";
import type { Message } from "./support/fake-harness.ts";
import { agreements, blockingTypes, fullEvent, handshakeResult, payloads } from "./support/samples.ts";

type ExchangeCall = Parameters<AhpExchange["handle"]>[1];
type Handle = (message: Message, call: ExchangeCall) => unknown;

const ok = ({ id }: Message, result: unknown) => ({ jsonrpc: "2.0", id, result });
const fail = (id: unknown, code: number, message: string, data?: unknown) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, data },
});
const forgotten = ({ id = "" }: Message) => fail(id, -32600, "no", { reason: "handshake_required" });

/** An exchange that agrees to everything, but for what a test tells it. */
const start = async (options: Partial<AhpClientOptions> = {}) => {
  const received: Message[] = [];
  const calls: ExchangeCall[] = [];
  const agree: Handle = (message) => {
    if (message.method === "ahp/handshake") return ok(message, handshakeResult());
    if (message.id === undefined) return undefined;
    return ok(message, agreements[message.params.event_type as keyof typeof agreements]);
  };
  const parts = { received, calls, agree, handle: agree };
  const watched = watcher();
  const client = createAhpClient({
    ...base,
    exchange: {
      handle: async (message, call) => {
        received.push(message as Message);
        calls.push(call);
        return parts.handle(message as Message, call);
      },
    },
    reconnect: { initialDelayMs: 0, maxDelayMs: 0 },
    onError: watched.onError,
    ...(options as object),
  });
  onTestFinished(() => client.close());
  await client.connect();
  return Object.assign(parts, watched, { client, methods: () => received.map(({ method }) => method) });
};

describe("over an exchange", () => {
  it("every event is one message with an answer of its own", async () => {
    const { client, received, calls } = await start();
    const verdicts = await Promise.all(
      blockingTypes.map((type) => client.decide(type, payloads[type] as never)),
    );
    for (const [index, verdict] of verdicts.entries()) {
      const type = blockingTypes[index] as keyof typeof agreements;
      expect(verdict).toEqual({ origin: "harness", decision: agreements[type] });
    }
    const ids = received.map(({ id }) => id);
    expect(new Set(ids).size).toBe(11);
    for (const id of ids) expect(id).toBeTypeOf("string");
    for (const { timeoutMs, signal } of calls) {
      expect(timeoutMs).toBeLessThanOrEqual(10_000);
      expect(timeoutMs).toBeGreaterThan(9000);
      expect(signal.aborted).toBe(false);
    }
  });

  it("no reply is the end of a notification, and no answer to a request", async () => {
    const parts = await start();
    parts.handle = () => undefined;
    parts.client.notify("post_action", {});
    expect(await parts.client.flush()).toBe(true);
    expect(parts.lost).toEqual([]);
    expect(await parts.client.decide("pre_action", {})).toMatchObject({
      code: "invalid_answer",
      decision: { decision: "block" },
    });
    expect((await ahpFailureOf(parts.client.query("t", "q"))).code).toBe("invalid_answer");
  });

  it("the call of a notification does not wait for the reply", async () => {
    const parts = await start();
    const replies: (() => void)[] = [];
    parts.handle = () => new Promise<void>((resolve) => replies.push(resolve));
    for (let index = 0; index < 5; index++) {
      expect(parts.client.notify("post_action", { index })).toBe(true);
    }
    // One after the other, so that they arrive in their order.
    for (let index = 0; index < 5; index++) {
      await until(() => replies.length === index + 1);
      expect(parts.received).toHaveLength(index + 2);
      replies[index]?.();
    }
    expect(await parts.client.flush()).toBe(true);
    expect(parts.received.slice(1).map(({ params }) => params.payload.index)).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    ["another id", (message: Message) => ({ ...ok(message, { decision: "allow" }), id: `${message.id}0` })],
    ["the number of the id", (message: Message) => ({ ...ok(message, {}), id: Number(message.id) })],
    ["an array", (message: Message) => [ok(message, { decision: "allow" })]],
    ["null", () => null],
    ["a text", () => "allow"],
  ])("a reply with %s is refused", async (_name, reply) => {
    const parts = await start();
    parts.handle = reply;
    expect(await parts.client.decide("pre_action", {})).toMatchObject({
      code: "invalid_answer",
      decision: { decision: "block" },
    });
    expect(parts.client.state).toBe("ready");
  });

  it("what does not answer in time is refused, told to stop, and its late reply is dropped", async () => {
    const clock = createManualClock();
    const parts = await start({ clock });
    let reply: ((value: unknown) => void) | undefined;
    parts.handle = () => new Promise((resolve) => (reply = resolve));
    const verdict = parts.client.decide("pre_action", {});
    await until(() => reply !== undefined);
    clock.advance(10_000);
    expect(await verdict).toMatchObject({ code: "timeout", decision: { decision: "block" } });
    expect(parts.calls.at(-1)?.signal.aborted).toBe(true);
    reply?.(ok(parts.received.at(-1) as Message, { decision: "allow" }));
    await until(() => parts.dropped() === 1);
  });

  it("an exchange that breaks a connection off is asked for a handshake before the next call", async () => {
    const parts = await start();
    parts.handle = (message) => {
      parts.handle = parts.agree;
      if (message.method === "ahp/event") throw new TransportError("broken off");
      return parts.agree(message, {} as never);
    };
    expect(await parts.client.decide("pre_action", { index: 1 })).toMatchObject({ code: "connection_lost" });
    expect((await parts.client.decide("pre_action", { index: 2 })).origin).toBe("harness");
    expect(parts.methods()).toEqual(["ahp/handshake", "ahp/event", "ahp/handshake", "ahp/event"]);
  });

  it.each([
    ["unauthorized", "unauthorized"],
    ["forbidden", "unauthorized"],
    ["unavailable", "unreachable"],
    ["server_error", "harness_error"],
    ["tls_failed", "unreachable"],
    ["not_found", "invalid_answer"],
    ["wrong_content_type", "invalid_answer"],
    ["request_too_large", "unsendable"],
    ["buffer_full", "overloaded"],
  ])("a rejection with %s is %s", async (thrown, code) => {
    const parts = await start({ reconnect: false });
    parts.handle = () => {
      throw new HarnessError(thrown, "as the transport says");
    };
    expect(await parts.client.decide("pre_action", {})).toMatchObject({
      code,
      decision: { decision: "block" },
      reason: expect.stringContaining("as the transport says"),
    });
  });

  it("a connection that was refused is told from one that was lost: nothing was sent", async () => {
    const parts = await start({ reconnect: false });
    parts.handle = () => {
      const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      throw new TransportError("nothing listens", { cause: new TypeError("fetch failed", { cause }) });
    };
    expect(await parts.client.decide("pre_action", {})).toMatchObject({ code: "unreachable" });
  });

  it("an exchange that throws what is no error of ours is no answer", async () => {
    const parts = await start();
    for (const thrown of [new TypeError("a bug"), "text", null, undefined]) {
      parts.handle = () => {
        throw thrown;
      };
      expect(await parts.client.decide("pre_action", {})).toMatchObject({ code: "invalid_answer" });
    }
  });

  it("a message that is too large is told from a reply that is", async () => {
    const parts = await start();
    parts.handle = () => {
      throw new FrameTooLargeError(1000);
    };
    expect(await parts.client.decide("pre_action", { text: "x".repeat(1000) })).toMatchObject({
      code: "unsendable",
    });
    expect(await parts.client.decide("pre_action", {})).toMatchObject({ code: "invalid_answer" });
  });
});

describe("a harness behind an exchange that has forgotten the handshake", () => {
  it("and notifications only: they are kept in their order until it knows the agent again", async () => {
    const parts = await start();
    let isKnown = false;
    const taken: number[] = [];
    parts.handle = (message, call) => {
      if (message.method === "ahp/handshake") isKnown = true;
      if (!isKnown) return forgotten(message);
      if (message.id === undefined) taken.push(message.params.payload.index);
      return parts.agree(message, call);
    };
    for (let index = 0; index < 10; index++) parts.client.notify("post_action", { index });
    expect(await parts.client.flush()).toBe(true);
    expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(parts.methods().slice(0, 4)).toEqual(["ahp/handshake", "ahp/event", "ahp/handshake", "ahp/event"]);
  });

  it("for good: gates are blocked, and notifications are counted as lost after a second try", async () => {
    const parts = await start();
    parts.handle = (message, call) =>
      message.method === "ahp/handshake" ? parts.agree(message, call) : forgotten(message);
    expect(await parts.client.decide("pre_action", {})).toMatchObject({ code: "harness_error" });
    parts.client.notify("post_action", {});
    expect(await parts.client.flush()).toBe(true);
    expect(parts.methods().filter((method) => method === "ahp/event")).toHaveLength(4);
    expect(parts.lost).toMatchObject([{ code: "harness_error" }]);
  });

  it("and speaks another version now: the next call begins anew", async () => {
    const parts = await start();
    parts.handle = (message) =>
      message.method === "ahp/handshake"
        ? ok(message, { ...handshakeResult(), protocol_version: "3.0" })
        : forgotten(message);
    expect(await parts.client.decide("pre_action", {})).toMatchObject({ code: "version_mismatch" });
    expect(parts.client.state).not.toBe("ready");
  });

  it("and refuses the handshake: gates are blocked, and nothing is sent without end", async () => {
    const parts = await start();
    parts.handle = (message) =>
      message.method === "ahp/handshake" ? fail(message.id, -32603, "Handler error: no") : forgotten(message);
    expect(await parts.client.decide("pre_action", {})).toMatchObject({
      code: "harness_error",
      error: { rpcMessage: "Handler error: no" },
    });
    parts.client.notify("post_action", {});
    expect(await parts.client.flush()).toBe(true);
    expect(parts.lost).toHaveLength(1);
    expect(parts.received.length).toBeLessThan(10);
  });
});

describe("a harness behind an exchange that knows each session by its own handshake", () => {
  const knowing = async () => {
    const parts = await start({ sessionId: "ses_own", agentId: "agent_own" });
    const known = new Set(["ses_own"]);
    parts.handle = (message, call) => {
      const { method, params } = message;
      if (method === "ahp/handshake") known.add(params.session_id);
      const events = method === "ahp/batch" ? params.events : [params];
      if (events.some(({ session_id }: any) => !known.has(session_id))) return forgotten(message);
      if (method !== "ahp/batch") return parts.agree(message, call);
      return ok(message, { decisions: events.map(() => ({ decision: "allow" })) });
    };
    return Object.assign(parts, {
      known,
      handshakes: () =>
        parts.received
          .filter(({ method }) => method === "ahp/handshake")
          .map(({ params }) => [params.session_id, params.agent_id]),
    });
  };

  it("is introduced to the session of an event that its caller built", async () => {
    const parts = await knowing();
    const { client, handshakes } = parts;
    const calls = Array.from({ length: 10 }, () => decideFull(client, fullEvent("pre_action")));
    for (const { origin } of await Promise.all(calls)) expect(origin).toBe("harness");
    expect(handshakes()).toEqual([
      ["ses_own", "agent_own"],
      ["ses_other", "agent_other"],
    ]);
    notifyFull(client, fullEvent("post_action", { session_id: "ses_third" }));
    notifyFull(client, fullEvent("post_action"));
    expect(await client.flush()).toBe(true);
    expect(handshakes().slice(2)).toEqual([["ses_third", "agent_other"]]);
    const batch = await client.batch([
      { event_type: "pre_action", payload: 1 },
      { event_type: "pre_action", payload: 2, session_id: "ses_4" },
      { event_type: "pre_action", payload: 3, session_id: "ses_5", agent_id: "sub" },
    ]);
    for (const { origin } of batch) expect(origin).toBe("harness");
    // The refusal of a batch does not say which session it is about.
    expect(handshakes().slice(3)).toEqual([
      ["ses_own", "agent_own"],
      ["ses_4", "agent_own"],
      ["ses_5", "sub"],
    ]);
    expect(parts.lost).toEqual([]);
  });

  it("is introduced again to all that it has forgotten", async () => {
    const parts = await knowing();
    parts.known.clear();
    const [own, other] = await parts.client.batch([
      { event_type: "pre_action", payload: 1 },
      { event_type: "pre_action", payload: 2, session_id: "ses_2" },
    ]);
    expect([own?.origin, other?.origin]).toEqual(["harness", "harness"]);
    expect(parts.handshakes().slice(1).sort()).toEqual([
      ["ses_2", "agent_own"],
      ["ses_own", "agent_own"],
    ]);
  });
});

describe("notifications over an exchange", () => {
  it("that nobody could take wait until somebody is there", async () => {
    const parts = await start({ reconnect: { initialDelayMs: 1, maxDelayMs: 1, maxAttempts: Infinity } });
    parts.handle = () => {
      throw new HarnessError("unavailable", "answered with status 503");
    };
    for (let index = 0; index < 3; index++) parts.client.notify("post_action", { index });
    await until(() => parts.client.state === "reconnecting");
    await until(() => parts.methods().filter((method) => method === "ahp/handshake").length > 3);
    const before = parts.received.length;
    parts.handle = parts.agree;
    expect(await parts.client.flush()).toBe(true);
    const events = parts.received.slice(before).filter(({ method }) => method === "ahp/event");
    expect(events.map(({ params }) => params.payload.index)).toEqual([0, 1, 2]);
    expect(parts.lost).toEqual([]);
  });

  it("that were broken off may have arrived: they are lost and not sent twice", async () => {
    const parts = await start();
    parts.handle = (message, call) => {
      if (message.params.payload?.index === 1) throw new TransportError("broken off");
      return parts.agree(message, call);
    };
    for (let index = 0; index < 3; index++) parts.client.notify("post_action", { index });
    expect(await parts.client.flush()).toBe(true);
    const sent = parts.received.filter(({ params }) => params.event_type === "post_action");
    expect(sent.map(({ params }) => params.payload.index)).toEqual([0, 1, 2]);
    expect(parts.lost).toEqual([{ index: 1, code: "connection_lost" }]);
  });

  it("that take too long are given up after the deadline of a notification", async () => {
    const clock = createManualClock();
    const parts = await start({ clock, deadlines: { notification: 50 } });
    parts.handle = () => new Promise(() => {});
    parts.client.notify("post_action", {});
    await until(() => parts.calls.length === 2);
    expect(parts.calls.at(-1)?.timeoutMs).toBe(50);
    clock.advance(50);
    await until(() => parts.lost.length === 1);
    expect(parts.lost).toMatchObject([{ code: "timeout" }]);
  });
});
