import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { clientOf, connected, failureOf, poll } from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";

const events = (count: number) =>
  Array.from({ length: count }, (_, payload) => ({ event_type: "pre_action", payload }) as const);

describe("the request timeout", () => {
  const own = { pre_action: 20, query: 30, batch: 40 };

  it.each<[string, object, object, number | undefined, readonly [number, number, number]]>([
    ["the protocol's", {}, {}, undefined, [10_000, 10_000, 10_000]],
    ["the harness's", { timeout_ms: 70 }, {}, undefined, [70, 70, 70]],
    ["1 ms at least", { timeout_ms: 0 }, {}, undefined, [1, 1, 1]],
    [
      "the protocol's where the harness's is negative",
      { timeout_ms: -1 },
      {},
      undefined,
      [10_000, 10_000, 10_000],
    ],
    ["ten minutes at most", { timeout_ms: 3_000_000 }, {}, undefined, [600_000, 600_000, 600_000]],
    ["the client's", { timeout_ms: 70 }, { requestTimeoutMs: 50 }, undefined, [50, 50, 50]],
    ["no longer than the harness's", { timeout_ms: 70 }, { requestTimeoutMs: 500 }, undefined, [70, 70, 70]],
    ["that of the call's name", {}, { requestTimeoutMs: 5, deadlines: own }, undefined, [20, 40, 30]],
    ["the call's own", { timeout_ms: 70 }, { requestTimeoutMs: 5 }, 60, [60, 60, 60]],
    ["the call's own, no longer than the harness's", { timeout_ms: 70 }, {}, 80, [70, 70, 70]],
  ])("is %s", async (_what, config, options, timeoutMs, expected) => {
    const clock = createManualClock();
    const silent = afterHandshake(() => {}, { config });
    const { client, harness } = await connected(silent, { clock, ...options });
    const settled: number[] = [];
    const note = (place: number) => (outcome: unknown) => {
      settled[place] = clock.elapsedMs();
      return outcome;
    };
    const calls = [
      client.decide("pre_action", {}, { timeoutMs }).then(note(0)),
      client.batch(events(1), { timeoutMs }).then(([verdict]) => note(1)(verdict)),
      failureOf(client.query("t", "q", { timeoutMs })).then(note(2)),
    ];
    await harness.until("ahp/query", 1);
    for (const at of [...new Set(expected)].sort((one, other) => one - other)) {
      clock.advance(at - 1 - clock.elapsedMs());
      await nextTurn();
      clock.advance(1);
      await nextTurn();
    }
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ code: "timeout" });
    expect(settled).toEqual(expected);
  });

  it("holds for the handshake too", async () => {
    const clock = createManualClock();
    const harness = new FakeHarness(() => {}, clock);
    const client = clientOf(harness, { clock, deadlines: { handshake: 300 } });
    const shaking = failureOf(client.connect());
    await harness.until("ahp/handshake", 1);
    clock.advance(299);
    await nextTurn();
    expect(client.state).toBe("new");
    clock.advance(1);
    expect(await shaking).toMatchObject({ name: "AhpFailure", code: "timeout" });
  });
});

it("the harness's limits are those of its last handshake, also for what waited for it", async () => {
  const { harness, client } = await connected(undefined, { reconnect: { initialDelayMs: 0 } });
  harness.answer = afterHandshake(agree, { config: { max_depth: 1, batch_size: 1 } });
  harness.last.wire.kill();
  await poll(() => client.state).toBe("reconnecting");
  const [deep, shallow, [tooLarge], [tooDeep]] = await Promise.all([
    client.decide("pre_action", {}, { depth: 2 }),
    client.decide("pre_action", {}, { depth: 1 }),
    client.batch(events(2)),
    client.batch([{ event_type: "pre_action", payload: 1, depth: 2 }]),
  ]);
  expect(deep).toMatchObject({ code: "depth_exceeded" });
  expect(shallow).toMatchObject({ origin: "harness" });
  expect(tooLarge).toMatchObject({ code: "batch_too_large" });
  expect(tooDeep).toMatchObject({ code: "depth_exceeded" });
  expect(harness.events).toHaveLength(1);
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
    const { harness, client, dropped } = await connected(afterHandshake(() => {}));
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
    await poll(dropped).toBe(3);
  });

  const nested = (levels: number): any => (levels === 0 ? 1 : { a: nested(levels - 1) });

  it.each([
    ["large", { text: "x".repeat(5 * 1024 * 1024) }],
    ["deep", nested(80)],
  ])("too %s for the transport are refused, and the connection stays", async (_what, payload) => {
    const { harness, client } = await connected();
    const verdict = await client.decide("pre_action", payload);
    expect(verdict).toMatchObject({ code: "unsendable", decision: { decision: "block" } });
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
    expect(harness.connections).toHaveLength(1);
  });

  it("with a timeout that is not valid are refused as an argument", async () => {
    const { client, harness } = await connected();
    for (const timeoutMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const calls = [
        client.connect({ timeoutMs }),
        client.decide("pre_action", {}, { timeoutMs }),
        client.batch(events(1), { timeoutMs }),
        client.query("t", "q", { timeoutMs }),
      ];
      for (const call of calls) expect(await failureOf(call)).toMatchObject({ code: "invalid_argument" });
    }
    expect(harness.events).toEqual([]);
  });
});
