import { ahpEvents } from "@harnesskit/protocol/ahp";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { base, connected, decideFull, misuseOf, notifyFull } from "./support/client.ts";
import { agree, FakeHarness, type Message } from "./support/fake-harness.ts";
import { agreements, blockingTypes, fullEvent, notificationTypes, payloads } from "./support/samples.ts";

describe("a blocking event", () => {
  it("is a request, and its call gives the harness's decision", async () => {
    const type = "pre_action";
    const clock = createManualClock(Date.parse("2026-05-01T00:00:00Z"));
    const { harness, client } = await connected(agree, { sessionId: "ses_1", agentId: "agent_1", clock });
    const verdict = await client.decide(type, payloads[type] as never);
    expect(verdict).toEqual({ origin: "harness", decision: agreements[type] });
    const message = harness.received.at(-1);
    expect(message).toEqual({
      jsonrpc: "2.0",
      id: expect.any(String),
      method: "ahp/event",
      params: {
        event_type: type,
        session_id: "ses_1",
        agent_id: "agent_1",
        timestamp: "2026-05-01T00:00:00.000Z",
        depth: 0,
        payload: payloads[type],
      },
    });
    expect(client.stats()).toMatchObject({ events: 1, harnessVerdicts: 1, clientVerdicts: {}, inFlight: 0 });
  });

  it("waits for its decision, however long others take less", async () => {
    const held: (() => void)[] = [];
    const { harness, client } = await connected((message, connection) => {
      if (message.params.payload?.held) held.push(() => agree(message, connection));
      else agree(message, connection);
    });
    let isDecided = false;
    const slow = client.decide("pre_action", { held: true }).finally(() => {
      isDecided = true;
    });
    for (let round = 0; round < 5; round++) {
      expect((await client.decide("pre_action", { held: false })).origin).toBe("harness");
    }
    expect(isDecided).toBe(false);
    expect(client.stats().inFlight).toBe(1);
    held[0]?.();
    expect((await slow).decision).toEqual(agreements.pre_action);
    expect(new Set(harness.received.map(({ id }) => id)).size).toBe(7);
  });

  it("carries the depth, context and metadata that its caller gives", async () => {
    const { harness, client } = await connected();
    const fields = { depth: 2, context: { current_task: "t" }, metadata: { a: [1] } };
    await client.decide("pre_action", payloads.pre_action, fields);
    client.notify("post_action", { status: "ok" }, fields);
    await client.flush();
    expect(harness.events.map(({ depth, context, metadata }) => ({ depth, context, metadata }))).toEqual([
      fields,
      fields,
    ]);
  });

  it("of an action names the tool and its arguments", async () => {
    const { harness, client } = await connected();
    await client.decide("pre_action", payloads.pre_action);
    expect(harness.events[0].payload).toEqual({
      action_type: "tool",
      tool_name: "bash",
      arguments: { command: "cargo test" },
    });
  });
});

describe("a notification", () => {
  it("has no id, and its call gives allow at once", async () => {
    const type = "post_action";
    // A harness that never answers anything but the handshake.
    const { harness, client } = await connected();
    harness.answer = () => {};
    const receipt = client.notify(type, payloads[type] as never);
    expect(receipt).toEqual({ decision: { decision: "allow" }, accepted: true });
    expect(harness.events).toEqual([]);
    await harness.until("ahp/event", 1);
    const message = harness.received.at(-1) as Message;
    expect(Object.keys(message).sort()).toEqual(["jsonrpc", "method", "params"]);
    expect(message).toMatchObject({
      jsonrpc: "2.0",
      method: "ahp/event",
      params: { event_type: type, payload: payloads[type], depth: 0 },
    });
    expect(client.stats()).toMatchObject({ events: 1, inFlight: 0, notificationsLost: 0 });
  });

  it("is sent as it was when it was told", async () => {
    const { harness, client } = await connected();
    const payload = { status: "then" };
    client.notify("post_action", payload);
    payload.status = "now";
    await client.flush();
    expect(harness.events[0].payload).toEqual({ status: "then" });
  });
});

describe("an event that its caller built", () => {
  it.each(blockingTypes)("%s is sent as it is", async (type) => {
    const { harness, client } = await connected();
    const event = fullEvent(type);
    expect((await decideFull(client, event)).decision).toEqual(agreements[type]);
    expect(harness.events).toEqual([event]);
  });

  it.each(notificationTypes)("%s is told as it is", async (type) => {
    const { harness, client } = await connected();
    const event = fullEvent(type);
    expect(notifyFull(client, event).accepted).toBe(true);
    await client.flush();
    expect(harness.events).toEqual([event]);
  });

  it("is sent as it is within a batch too, and filled in where it is not whole", async () => {
    const { harness, client } = await connected(agree, { sessionId: "ses_1", agentId: "agent_1" });
    const event = fullEvent("pre_action");
    const verdicts = await client.batch([
      event,
      { event_type: "post_action", payload: 1, agent_id: "sub" },
      { event_type: "pre_prompt", payload: "p", depth: 2 },
    ]);
    const [first, second, third] = harness.received.at(-1)?.params.events ?? [];
    expect(first).toEqual(event);
    expect(second).toMatchObject({ session_id: "ses_1", agent_id: "sub", depth: 0, payload: 1 });
    expect(third).toMatchObject({ session_id: "ses_1", agent_id: "agent_1", depth: 2, payload: "p" });
    expect(verdicts.map(({ decision }) => decision)).toEqual([
      { decision: "allow", metadata: { index: 0 } },
      { decision: "allow", metadata: { index: 1 } },
      { decision: "allow", metadata: { index: 2 } },
    ]);
  });
});

describe("a query", () => {
  it("gives the answer, its reason and the alternatives", async () => {
    const { harness, client } = await connected(agree, { sessionId: "ses_1", agentId: "agent_1" });
    expect(await client.query("policy", "May I?")).toEqual({ answer: 42, reason: "r", alternatives: ["a"] });
    expect(harness.received.at(-1)).toEqual({
      jsonrpc: "2.0",
      id: expect.any(String),
      method: "ahp/query",
      params: {
        session_id: "ses_1",
        agent_id: "agent_1",
        query_type: "policy",
        payload: { question: "May I?" },
      },
    });
    await client.query("policy", { question: "q", tool: "bash" });
    expect(harness.received.at(-1)?.params.payload).toEqual({ question: "q", tool: "bash" });
  });
});

describe("the methods", () => {
  it("are four, and what is asked goes by none of another name", async () => {
    const { harness, client } = await connected();
    for (const type of blockingTypes) await client.decide(type, payloads[type] as never);
    for (const type of notificationTypes) client.notify(type, payloads[type] as never);
    await client.query("t", "q");
    await client.batch([{ event_type: "pre_action", payload: 1 }]);
    client.startHeartbeat(1000, "working")();
    await client.flush();
    expect(new Set(harness.methods)).toEqual(
      new Set(["ahp/handshake", "ahp/event", "ahp/query", "ahp/batch"]),
    );
    expect(harness.events).toHaveLength(21);
  });
});

describe("what cannot be sent", () => {
  it("is refused before anything is sent: types that are methods, or unknown", async () => {
    const { harness, client } = await connected();
    const any = client as any;
    for (const type of ["handshake", "query", "nothing", "constructor", "", 1, null, undefined]) {
      expect(await misuseOf(() => any.decide(type, {}))).toBe("invalid_event");
      expect(await misuseOf(() => any.decide(type, {}))).toBe("invalid_event");
      expect(await misuseOf(() => any.notify(type, {}))).toBe("invalid_event");
      expect(await misuseOf(() => decideFull(any, { ...fullEvent("idle"), event_type: type }))).toBe(
        "invalid_event",
      );
      expect(await misuseOf(() => any.batch([{ event_type: type, payload: {} }]))).toBe("invalid_event");
      expect(await misuseOf(() => any.supports(type))).toBe("invalid_event");
    }
    for (const event of [null, undefined, 1, []]) {
      expect(await misuseOf(() => any.batch([event]))).toBe("invalid_event");
      expect(await misuseOf(() => decideFull(any, event))).toBe("invalid_event");
      expect(await misuseOf(() => notifyFull(any, event))).toBe("invalid_event");
    }
    expect(harness.methods).toEqual(["ahp/handshake"]);
  });

  it("is refused: a notification that is asked, and a blocking event that is told", async () => {
    const { harness, client } = await connected();
    for (const type of notificationTypes) {
      expect(await misuseOf(() => client.decide(type as never, payloads[type] as never))).toBe(
        "wrong_event_kind",
      );
      expect(await misuseOf(() => decideFull(client, fullEvent(type)))).toBe("wrong_event_kind");
    }
    for (const type of blockingTypes) {
      expect(await misuseOf(() => client.notify(type as never, payloads[type] as never))).toBe(
        "wrong_event_kind",
      );
      expect(await misuseOf(() => notifyFull(client, fullEvent(type)))).toBe("wrong_event_kind");
    }
    expect(harness.methods).toEqual(["ahp/handshake"]);
  });

  it("is refused: a payload, a depth or a time that does not fit, and the error says where", async () => {
    const { harness, client } = await connected();
    const any = client as any;
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const type of Object.keys(ahpEvents)) {
      for (const payload of [undefined, () => 1, 10n, Number.NaN, cyclic]) {
        expect(await misuseOf(() => any[isBlocking(type) ? "decide" : "notify"](type, payload))).toBe(
          "invalid_event",
        );
      }
    }
    for (const depth of [-1, 0.5, "0", Number.NaN]) {
      expect(await misuseOf(() => any.decide("pre_action", {}, { depth }))).toBe("invalid_event");
    }
    expect(await misuseOf(() => decideFull(client, fullEvent("idle", { timestamp: "yesterday" })))).toBe(
      "invalid_event",
    );
    expect(await misuseOf(() => any.query(1, "q"))).toBe("invalid_event");
    expect(await misuseOf(() => any.query("t"))).toBe("invalid_event");
    await expect(any.decide("idle", { idle_duration_ms: 0.5, idle_reason: "r" })).rejects.toThrow(
      "the payload of idle: idle_duration_ms",
    );
    expect(harness.methods).toEqual(["ahp/handshake"]);
    expect(client.stats()).toMatchObject({ events: 0, notificationsLost: 0 });
  });

  it("is refused: one with a decision of its own in a batch, and nothing of that batch is sent", async () => {
    const { harness, client } = await connected();
    const events = [
      { event_type: "pre_action", payload: 1 },
      { event_type: "planning", payload: payloads.planning },
    ];
    expect(await misuseOf(() => client.batch(events as any))).toBe("not_batchable");
    expect(harness.methods).toEqual(["ahp/handshake"]);
  });

  it("is nothing at all where a batch is empty", async () => {
    const { harness, client } = await connected();
    expect(await client.batch([])).toEqual([]);
    expect(harness.methods).toEqual(["ahp/handshake"]);
  });
});

const isBlocking = (type: string) => (blockingTypes as string[]).includes(type);

describe("the options", () => {
  it("are refused where nothing could work", () => {
    const channel = new FakeHarness().open();
    const transport = new FakeHarness();
    const codeOf = (options: object) => {
      try {
        createAhpClient({ ...base, ...options } as any);
      } catch (error) {
        return (error as { code?: string }).code;
      }
      return "taken";
    };
    for (const options of [
      {},
      { transport, channel },
      { transport, requestTimeoutMs: 0 },
      { transport, requestTimeoutMs: Number.NaN },
      { transport, requestTimeoutMs: "5" },
      { transport, requestTimeoutMs: Number.POSITIVE_INFINITY },
      { transport, deadlines: { gate: -1 } },
      { transport, deadlines: { query: "5" } },
      { transport, limits: { maxInFlight: 0 } },
      { transport, limits: { maxBufferedBytes: 0.5 } },
      { transport, reconnect: { maxAttempts: 0 } },
      { transport, reconnect: { initialDelayMs: 10, maxDelayMs: 1 } },
      { transport, resend: { calls: [], maxAttempts: 0 } },
      { transport, failOpen: { idle: { decision: "allow" } } },
      { transport, failOpen: { idle: { decision: "approve" } }, onFailOpen: () => {} },
      { transport, failOpen: { post_action: { decision: "allow" } }, onFailOpen: () => {} },
    ]) {
      expect(codeOf(options), JSON.stringify(options)).toBe("invalid_argument");
    }
    expect(codeOf({ transport })).toBe("taken");
  });
});
