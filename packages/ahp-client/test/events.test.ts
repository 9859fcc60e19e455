import { ahpEvents } from "@harnesskit/protocol/ahp";
import { describe, expect, it } from "vitest";
import { createAhpClient } from "../src/index.ts";
import { base, clientOf, connected, decideFull, misuseOf, notifyFull } from "./support/client.ts";
import { agree, FakeHarness } from "./support/fake-harness.ts";
import {
  agreements,
  blockingTypes,
  fullEvent,
  notificationTypes,
  specialisedTypes,
} from "./support/samples.ts";

describe("an event", () => {
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
    held[0]?.();
    expect((await slow).decision).toEqual(agreements.pre_action);
    expect(new Set(harness.received.map(({ id }) => id)).size).toBe(7);
  });

  it("is sent as it was when it was given, in a batch too, and filled in where it is not whole", async () => {
    const { harness, client } = await connected(agree, { sessionId: "ses_1", agentId: "agent_1" });
    const payload = { status: "then" };
    client.notify("post_action", payload);
    payload.status = "now";
    await client.flush();
    expect(harness.events[0]).toMatchObject({ session_id: "ses_1", payload: { status: "then" } });
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
    expect(verdicts.map(({ decision }) => decision)).toEqual(
      [0, 1, 2].map((index) => ({ decision: "allow", metadata: { index } })),
    );
  });
});

describe("what cannot be sent", () => {
  it("is refused before the handshake", async () => {
    const client = clientOf(new FakeHarness());
    for (const call of [
      () => client.decide("pre_action", {}),
      () => client.notify("post_action", {}),
      () => client.batch([]),
      () => client.query("t", "q"),
    ]) {
      expect(await misuseOf(call)).toBe("handshake_required");
    }
  });

  it("is refused before anything is sent: types that are methods, or unknown, or of the other kind", async () => {
    const { harness, client } = await connected();
    const any = client as any;
    for (const type of ["handshake", "query", "nothing", "constructor", "", 1, null, undefined]) {
      expect(await misuseOf(() => any.decide(type, {}))).toBe("invalid_event");
      expect(await misuseOf(() => any.notify(type, {}))).toBe("invalid_event");
      expect(await misuseOf(() => any.batch([{ event_type: type, payload: {} }]))).toBe("invalid_event");
    }
    for (const event of [null, undefined, 1, []]) {
      expect(await misuseOf(() => any.batch([event]))).toBe("invalid_event");
    }
    for (const type of notificationTypes) {
      expect(await misuseOf(() => decideFull(client, fullEvent(type)))).toBe("wrong_event_kind");
    }
    for (const type of blockingTypes) {
      expect(await misuseOf(() => notifyFull(client, fullEvent(type)))).toBe("wrong_event_kind");
    }
    for (const type of specialisedTypes) {
      expect(await misuseOf(() => any.batch([fullEvent(type)]))).toBe("not_batchable");
    }
    expect(await client.batch([])).toEqual([]);
    expect(harness.methods).toEqual(["ahp/handshake"]);
  });

  it("is refused: a payload, a depth or a time that does not fit, and the error says where", async () => {
    const { harness, client } = await connected();
    const any = client as any;
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const type of Object.keys(ahpEvents)) {
      const method = (blockingTypes as string[]).includes(type) ? "decide" : "notify";
      for (const payload of [undefined, () => 1, 10n, Number.NaN, cyclic]) {
        expect(await misuseOf(() => any[method](type, payload))).toBe("invalid_event");
      }
    }
    for (const fields of [{ depth: -1 }, { depth: 0.5 }, { depth: "0" }, { timestamp: "yesterday" }]) {
      expect(await misuseOf(() => any.decide("pre_action", {}, fields))).toBe("invalid_event");
    }
    expect(await misuseOf(() => any.query(1, "q"))).toBe("invalid_event");
    expect(await misuseOf(() => any.query("t"))).toBe("invalid_event");
    await expect(any.decide("idle", { idle_duration_ms: 0.5, idle_reason: "r" })).rejects.toThrow(
      "the payload of idle: idle_duration_ms",
    );
    expect(harness.methods).toEqual(["ahp/handshake"]);
  });
});

it("options under which nothing could work are refused", () => {
  const transport = new FakeHarness();
  const codeOf = (options: object) => {
    try {
      createAhpClient({ ...base, ...options } as any);
    } catch (error) {
      return (error as { code?: string }).code;
    }
    return "accepted";
  };
  for (const options of [
    {},
    { transport, exchange: { handle: async () => undefined } },
    { transport, requestTimeoutMs: Number.NaN },
    { transport, requestTimeoutMs: "5" },
    { transport, requestTimeoutMs: Number.POSITIVE_INFINITY },
    { transport, deadlines: { pre_action: -1 } },
    { transport, deadlines: { gate: 1 } },
    { transport, deadlines: { post_action: 1 } },
    { transport, limits: { maxInFlight: 0 } },
    { transport, reconnect: { maxAttempts: 0 } },
    { transport, reconnect: { initialDelayMs: 10, maxDelayMs: 1 } },
    { transport, resend: { calls: [], maxAttempts: 0 } },
  ]) {
    expect(codeOf(options), JSON.stringify(options)).toBe("invalid_argument");
  }
  expect(codeOf({ transport })).toBe("accepted");
});
