import { ahpEvents } from "@harnesskit/protocol/ahp";
import { describe, expect, it } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { base, connected, decideFull, misuseOf, notifyFull } from "./support/client.ts";
import { agree, FakeHarness } from "./support/fake-harness.ts";
import { agreements, blockingTypes, fullEvent, notificationTypes, payloads } from "./support/samples.ts";

describe("a blocking event", () => {
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
