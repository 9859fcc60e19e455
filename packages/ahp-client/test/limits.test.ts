import { createManualClock } from "@harnesskit/wire/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallClass } from "../src/deadlines.ts";
import { Deadlines } from "../src/deadlines.ts";
import { clientOf, connected, decideFull, failureOf, poll } from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";
import {
  blockingTypes,
  fullEvent,
  handshakeResult,
  payloads,
  refusals,
  specialisedTypes,
} from "./support/samples.ts";

const events = (count: number) =>
  Array.from({ length: count }, (_, payload) => ({ event_type: "pre_action", payload }) as const);

/** How long each kind of call waits: the time at which its refusal comes. */
const waitsOf = async (config: object | undefined, options: object = {}) => {
  const clock = createManualClock();
  const silent = afterHandshake(() => {}, config === undefined ? {} : { config });
  const { client } = await connected(silent, { clock, ...options });
  const startedAt = clock.now();
  const waits: Record<string, number> = {};
  const settled = (name: string) => () => {
    waits[name] = clock.now() - startedAt;
  };
  const calls = [
    ...blockingTypes.map((type) => client.decide(type, payloads[type] as never).then(settled(type))),
    client.batch(events(1)).then(settled("batch")),
    client.query("t", "q").catch(settled("query")),
  ];
  while (client.stats().inFlight > 0) {
    clock.advance(1);
    // The failures of this moment are told before the next.
    for (let turn = 0; turn < 12; turn++) await Promise.resolve();
  }
  await Promise.all(calls);
  return waits;
};

const all = (ms: number) =>
  Object.fromEntries([...blockingTypes, "batch", "query"].map((name) => [name, ms]));

describe("the request timeout", () => {
  it("is 10,000 ms, or what the harness advertises, or what is set and no longer than that", async () => {
    expect(await waitsOf(undefined)).toEqual(all(10_000));
    expect(await waitsOf({})).toEqual(all(10_000));
    expect(await waitsOf({ timeout_ms: 70 })).toEqual(all(70));
    expect(await waitsOf({ timeout_ms: 20_000 })).toEqual(all(20_000));
    expect(await waitsOf({ timeout_ms: 0 })).toEqual(all(1));
    expect(await waitsOf({ timeout_ms: 3_000_000 }, { limits: { maxTimeoutMs: 90 } })).toEqual(all(90));
    expect(await waitsOf({ timeout_ms: 70 }, { requestTimeoutMs: 50 })).toEqual(all(50));
    expect(await waitsOf({ timeout_ms: 70 }, { requestTimeoutMs: 500 })).toEqual(all(70));
  });

  it("can be set for each class of calls", async () => {
    const deadlines = { gate: 10, context: 20, pacing: 30, confirmation: 40, query: 50, batch: 60 };
    expect(await waitsOf({}, { requestTimeoutMs: 5, deadlines })).toEqual({
      pre_action: 10,
      pre_prompt: 10,
      intent_detection: 20,
      context_perception: 20,
      memory_recall: 20,
      planning: 20,
      reasoning: 20,
      idle: 30,
      rate_limit: 30,
      confirmation: 40,
      query: 50,
      batch: 60,
    });
  });

  it("holds for the handshake too, whatever was advertised before", async () => {
    const clock = createManualClock();
    const harness = new FakeHarness(() => {}, clock);
    const client = clientOf(harness, { clock, deadlines: { handshake: 300 } });
    const shaking = failureOf(client.connect());
    await harness.until("ahp/handshake", 1);
    clock.advance(299);
    expect(client.state).toBe("new");
    clock.advance(1);
    expect(await shaking).toMatchObject({ name: "AhpFailure", code: "timeout" });
  });

  it("of one call is what it asks for, and no longer than the harness takes", async () => {
    const time = fc.integer({ min: 1, max: 1e7 });
    const some = fc.option(time, { nil: undefined });
    await fc.assert(
      fc.property(some, some, some, time, (own, configured, advertised, maxTimeoutMs) => {
        const options = configured === undefined ? {} : { requestTimeoutMs: configured };
        const config = advertised === undefined ? {} : { timeout_ms: advertised };
        const chosen = new Deadlines(options, maxTimeoutMs).of("gate" as CallClass, config, own);
        const asked = own ?? configured;
        expect(chosen).toBe(
          asked === undefined
            ? Math.min(advertised ?? 10_000, maxTimeoutMs)
            : Math.min(asked, advertised ?? asked),
        );
      }),
    );
  });
});

describe("the depth limit", () => {
  it("of the last handshake holds, also for what waited for it", async () => {
    const { harness, client } = await connected(undefined, { reconnect: { initialDelayMs: 0 } });
    harness.answer = afterHandshake(agree, { config: { max_depth: 1, batch_size: 1 } });
    harness.last.wire.kill();
    await poll(() => client.state).toBe("reconnecting");
    const waiting = [
      client.decide("pre_action", {}, { depth: 2 }),
      client.decide("pre_action", {}, { depth: 1 }),
    ];
    const batch = client.batch(events(2));
    const [deep, shallow] = await Promise.all(waiting);
    expect(deep).toMatchObject({ code: "depth_exceeded" });
    expect(shallow).toMatchObject({ origin: "harness" });
    expect((await batch)[0]).toMatchObject({ code: "batch_too_large" });
    expect(harness.events).toHaveLength(1);
  });
});

describe("the capabilities of the harness", () => {
  const harnessInfo = (capabilities: string[]) => ({
    harness_info: { ...handshakeResult().harness_info, capabilities },
  });

  it.each(specialisedTypes)("do not say %s: it is sent all the same", async (type) => {
    const { harness, client } = await connected(afterHandshake(agree, harnessInfo([])));
    expect((await client.decide(type, payloads[type] as never)).origin).toBe("harness");
    expect((await decideFull(client, fullEvent(type))).origin).toBe("harness");
    expect(harness.events).toHaveLength(2);
  });

  it.each([
    [-32601, "Method not found", "not_handled"],
    [-32603, "Handler error: Capability not supported: idle", "not_handled"],
    [-32603, "Capability not supported", "not_handled"],
    [-32602, "Invalid params: unknown event type", "harness_error"],
    [-32603, "Handler error: the database is gone", "harness_error"],
  ])("that lack it answer %d %s: the safe decision with that reason", async (code, text, failure) => {
    const { client } = await connected(
      afterHandshake((message, { fail }) => fail(message, code, text), harnessInfo([])),
    );
    for (const type of specialisedTypes) {
      expect(await client.decide(type, payloads[type] as never)).toMatchObject({
        origin: "client",
        code: failure,
        decision: { decision: refusals[type] },
        failedOpen: false,
        reason: expect.stringContaining(text),
        error: { rpcCode: code, rpcMessage: text },
      });
    }
  });
});

describe("calls", () => {
  it("beyond maxInFlight are refused, and taken again when there is room", async () => {
    const held: (() => void)[] = [];
    const { harness, client } = await connected(
      afterHandshake((message, connection) => held.push(() => agree(message, connection))),
      { limits: { maxInFlight: 3 } },
    );
    const waiting = [1, 2, 3].map((index) => client.decide("pre_action", { index }));
    expect(await client.decide("pre_action", {})).toMatchObject({ code: "overloaded" });
    expect((await client.batch(events(1)))[0]).toMatchObject({ code: "overloaded" });
    expect(await failureOf(client.query("t", "q"))).toMatchObject({ name: "AhpFailure", code: "overloaded" });
    await harness.until("ahp/event", 3);
    for (const answer of held) answer();
    for (const { origin } of await Promise.all(waiting)) expect(origin).toBe("harness");
    harness.answer = agree;
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
    expect(harness.events).toHaveLength(4);
  });

  it("that their callers give up are refused, and the late answer settles nothing", async () => {
    const { harness, client } = await connected(afterHandshake(() => {}));
    const abort = new AbortController();
    const { signal } = abort;
    const verdict = client.decide("pre_action", {}, { signal });
    const batch = client.batch(events(2), { signal });
    const query = failureOf(client.query("t", "q", { signal }));
    await harness.until("ahp/query", 1);
    abort.abort("enough");
    expect(await verdict).toMatchObject({ code: "cancelled", decision: { decision: "block" } });
    for (const each of await batch) expect(each).toMatchObject({ code: "cancelled" });
    expect(await query).toMatchObject({ name: "AhpFailure", code: "cancelled" });
    expect(await client.decide("pre_action", {}, { signal })).toMatchObject({ code: "cancelled" });
    for (const message of harness.received.slice(1)) harness.last.reply(message, { decision: "allow" });
    await poll(() => client.stats().droppedMessages).toBe(3);
    expect(client.stats()).toMatchObject({
      inFlight: 0,
    });
  });

  it("too large for the transport are refused, and the connection stays", async () => {
    const { harness, client } = await connected();
    const verdict = await client.decide("pre_action", { text: "x".repeat(5 * 1024 * 1024) });
    expect(verdict).toMatchObject({ code: "unsendable", decision: { decision: "block" } });
    expect(client.notify("post_action", { text: "x".repeat(5 * 1024 * 1024) }).accepted).toBe(true);
    await poll(() => client.stats().notificationsLost).toBe(1);
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
    expect(harness.connections).toHaveLength(1);
  });
});
