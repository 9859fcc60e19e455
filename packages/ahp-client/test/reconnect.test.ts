import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import type { SessionState } from "../src/index.ts";
import { ahpFailureOf, clientOf, connected, poll } from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";

const quick = { initialDelayMs: 0, maxDelayMs: 0 };

it("calls that wait for a harness that refuses their handshake say so: it is not absent", async () => {
  const harness = new FakeHarness((message, connection) => connection.fail(message, -32603, "not you"));
  const client = clientOf(harness, { reconnect: { maxAttempts: 2, ...quick } });
  const connecting = ahpFailureOf(client.connect({ retry: true }));
  expect(await client.decide("pre_action", {})).toMatchObject({ code: "harness_error" });
  expect((await connecting).code).toBe("harness_error");
});

describe("a lost connection", () => {
  it("ends every pending call at once, each with what is safe", async () => {
    const { harness, client } = await connected(
      afterHandshake(() => {}),
      { reconnect: false },
    );
    const gate = client.decide("pre_action", {});
    const batch = client.batch([{ event_type: "pre_action", payload: 1 }]);
    const query = ahpFailureOf(client.query("t", "q"));
    await harness.until("ahp/query", 1);
    // No timer could have fired: the deadline is 10 s away.
    const startedAt = performance.now();
    harness.last.wire.kill();
    expect(await gate).toMatchObject({ code: "connection_lost", decision: { decision: "block" } });
    expect((await batch)[0]).toMatchObject({ code: "connection_lost", decision: { decision: "block" } });
    expect((await query).code).toBe("connection_lost");
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(client.state).toBe("lost");
    expect(await client.decide("pre_action", {})).toMatchObject({ code: "unreachable" });
    expect((await ahpFailureOf(client.query("t", "q"))).code).toBe("unreachable");
  });

  it("is made anew, with a handshake before anything else; calls made meanwhile wait for it", async () => {
    const states: SessionState[] = [];
    const harness = new FakeHarness();
    const client = clientOf(harness, { reconnect: quick });
    const stop = client.onState((state) => void states.push(state));
    await client.connect();
    harness.refuse();
    harness.last.wire.kill();
    await poll(() => client.state).toBe("reconnecting");
    const calls = [client.decide("pre_action", { index: 1 }), client.decide("pre_action", { index: 2 })];
    const query = client.query("t", "q");
    const connecting = client.connect();
    harness.refusesWith = undefined;
    for (const { origin } of await Promise.all(calls)) expect(origin).toBe("harness");
    expect((await query).answer).toBe(42);
    await connecting;
    expect(harness.methods.slice(1)).toEqual(["ahp/handshake", "ahp/event", "ahp/event", "ahp/query"]);
    stop();
    await client.close();
    expect(states).toEqual(["ready", "reconnecting", "ready"]);
  });

  it("is waited for no longer than the deadline of the call", async () => {
    const clock = createManualClock();
    const { harness, client } = await connected(agree, {
      clock,
      reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    harness.refuse();
    harness.last.wire.kill();
    await poll(() => client.state).toBe("reconnecting");
    const abort = new AbortController();
    const gate = client.decide("pre_action", {});
    const given = client.decide("pre_action", {}, { signal: abort.signal });
    abort.abort();
    expect(await given).toMatchObject({ code: "cancelled" });
    clock.advance(10_000);
    expect(await gate).toMatchObject({ code: "unreachable", decision: { decision: "block" } });
    expect(harness.events).toEqual([]);
  });

  it("is tried for as often as is configured, with waits that double, and a handshake begins anew", async () => {
    const clock = createManualClock();
    const { harness, client } = await connected(agree, {
      clock,
      reconnect: { maxAttempts: 4, initialDelayMs: 100, maxDelayMs: 300, random: () => 0.999_999 },
    });
    harness.refuse();
    harness.last.wire.kill();
    await poll(() => client.state).toBe("reconnecting");
    const waits = [100, 200, 300, 300];
    for (const [index, wait] of waits.entries()) {
      await poll(() => clock.pending).toBeGreaterThan(0);
      clock.advance(wait * 0.9);
      expect(client.state).toBe("reconnecting");
      clock.advance(wait * 0.1);
      await new Promise((resolve) => setImmediate(resolve));
      if (index < 3) await poll(() => clock.pending).toBeGreaterThan(0);
    }
    await poll(() => client.state).toBe("lost");
    expect(await client.decide("pre_action", {})).toMatchObject({
      code: "unreachable",
      reason: expect.stringContaining("nobody listens"),
    });
    expect((await ahpFailureOf(client.connect())).code).toBe("unreachable");
    harness.refusesWith = undefined;
    await client.connect();
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
  });

  it("is given up at once where another attempt cannot help", async () => {
    const { harness, client } = await connected(agree, { reconnect: quick });
    harness.answer = afterHandshake(agree, { protocol_version: "3.0" });
    harness.last.wire.kill();
    await poll(() => client.state).toBe("lost");
    expect(harness.connections).toHaveLength(2);
    expect(await client.decide("pre_action", {})).toMatchObject({ code: "version_mismatch" });
    expect(harness.events).toEqual([]);
  });

  it("again and again, before anything was answered, is given up at last", async () => {
    const { harness, client } = await connected(
      afterHandshake((_message, { wire }) => wire.kill()),
      {
        reconnect: { initialDelayMs: 0, maxDelayMs: 1000, maxAttempts: 5 },
      },
    );
    const codes: unknown[] = [];
    while (client.state !== "lost") codes.push((await client.decide("pre_action", {})) as { code?: string });
    expect(codes).toHaveLength(6);
    for (const verdict of codes) expect(verdict).toMatchObject({ code: "connection_lost" });
    expect(harness.connections).toHaveLength(6);
  });

  it("again and again, where calls are answered in between, is made anew each time", async () => {
    const { harness, client } = await connected(agree, {
      reconnect: { initialDelayMs: 0, maxDelayMs: 60_000, maxAttempts: 2 },
    });
    for (let round = 0; round < 8; round++) {
      expect((await client.decide("pre_action", {})).origin).toBe("harness");
      harness.last.wire.kill();
      await poll(() => client.state === "ready" && harness.connections.length).toBe(round + 2);
    }
  });
});

describe("a call that was sent", () => {
  it("is not sent again, unless its caller configured that", async () => {
    const cutFirst = (resend: object | undefined) => {
      let isCut = false;
      return connected(
        afterHandshake((message, connection) => {
          if (isCut) return agree(message, connection);
          isCut = true;
          connection.wire.kill();
        }),
        { reconnect: quick, ...(resend && { resend }) } as object,
      );
    };
    const plain = await cutFirst(undefined);
    expect(await plain.client.decide("pre_action", {})).toMatchObject({ code: "connection_lost" });
    expect((await plain.client.decide("pre_action", {})).origin).toBe("harness");
    expect(plain.harness.events).toHaveLength(2);
    const other = await cutFirst({ calls: ["pre_prompt", "query"] });
    expect(await other.client.decide("pre_action", {})).toMatchObject({ code: "connection_lost" });
    expect(other.harness.events).toHaveLength(1);
    const { harness, client } = await connected(
      afterHandshake((_message, { wire }) => wire.kill()),
      { reconnect: { ...quick, maxAttempts: 100 }, resend: { calls: ["pre_action"], maxAttempts: 4 } },
    );
    expect(await client.decide("pre_action", {})).toMatchObject({ code: "connection_lost" });
    expect(harness.events).toHaveLength(4);
    const chosen = await cutFirst({ calls: ["pre_action", "batch", "query"] });
    expect((await chosen.client.decide("pre_action", { index: 7 })).origin).toBe("harness");
    expect(chosen.harness.events.map(({ payload }) => payload)).toEqual([{ index: 7 }, { index: 7 }]);
  });

  it("is not sent again after a timeout or an error, whatever is configured", async () => {
    const clock = createManualClock();
    const resend = { calls: ["pre_action"], maxAttempts: 5 } as const;
    const silent = await connected(
      afterHandshake(() => {}),
      { clock, resend },
    );
    const verdict = silent.client.decide("pre_action", {});
    await silent.harness.until("ahp/event", 1);
    clock.advance(10_000);
    expect(await verdict).toMatchObject({ code: "timeout" });
    const failing = await connected(
      afterHandshake((message, { fail }) => fail(message, -32603, "no")),
      { resend },
    );
    expect(await failing.client.decide("pre_action", {})).toMatchObject({ code: "harness_error" });
    expect([silent.harness.events.length, failing.harness.events.length]).toEqual([1, 1]);
  });
});

describe("a harness that has forgotten the handshake", () => {
  const forgetful = async (times: number) => {
    let left = times;
    return connected((message, connection) => {
      if (message.method === "ahp/handshake" || left === 0) return agree(message, connection);
      left--;
      connection.fail(message, -32600, "No handshake", { reason: "handshake_required" });
    });
  };

  it("is told again who this is, and the call is sent once more", async () => {
    const { harness, client } = await forgetful(1);
    expect((await client.decide("pre_action", { index: 1 })).origin).toBe("harness");
    expect(harness.methods).toEqual(["ahp/handshake", "ahp/event", "ahp/handshake", "ahp/event"]);
  });

  it("is told once for all calls that were refused", async () => {
    const { harness, client } = await forgetful(20);
    const calls = Array.from({ length: 20 }, (_, index) => client.decide("pre_action", { index }));
    for (const { origin } of await Promise.all(calls)) expect(origin).toBe("harness");
    expect(harness.methods.filter((method) => method === "ahp/handshake")).toHaveLength(2);
    expect(harness.events).toHaveLength(40);
  });

  it("is not told for ever", async () => {
    const { harness, client } = await forgetful(Number.POSITIVE_INFINITY);
    expect(await client.decide("pre_action", {})).toMatchObject({
      code: "harness_error",
      error: { rpcCode: -32600 },
      decision: { decision: "block" },
    });
    expect(harness.methods).toEqual(["ahp/handshake", "ahp/event", "ahp/handshake", "ahp/event"]);
  });
});

describe("close", () => {
  it("ends the connection and what belongs to it, at once and once", async () => {
    const { harness, client } = await connected(afterHandshake(() => {}));
    const gate = client.decide("pre_action", {});
    const query = ahpFailureOf(client.query("t", "q"));
    await harness.until("ahp/query", 1);
    const closing = [client.close(), client.close()];
    expect(client.state).toBe("closed");
    expect(await gate).toMatchObject({ code: "closed", decision: { decision: "block" } });
    expect((await query).code).toBe("closed");
    await Promise.all(closing);
    await poll(() => harness.last.channel.signal.aborted).toBe(true);
    expect(await client.decide("pre_action", {})).toMatchObject({ code: "closed" });
    expect((await client.batch([{ event_type: "pre_action", payload: 1 }]))[0]).toMatchObject({
      code: "closed",
    });
    expect((await ahpFailureOf(client.query("t", "q"))).code).toBe("closed");
    expect(client.notify("post_action", {})).toBe(false);
    const { length } = harness.received;
    await client[Symbol.asyncDispose]();
    expect(harness.received).toHaveLength(length);
  });

  it("sends what was told before it", async () => {
    const { harness, client } = await connected();
    for (let index = 0; index < 50; index++) client.notify("post_action", { index });
    await client.close();
    await harness.until("ahp/event", 50);
  });

  it("ends a reconnecting client, and no timer stays", async () => {
    const clock = createManualClock();
    const { harness, client } = await connected(agree, { clock });
    harness.refuse();
    harness.last.wire.kill();
    await poll(() => client.state).toBe("reconnecting");
    const gate = client.decide("pre_action", {});
    await client.close();
    expect(await gate).toMatchObject({ code: "closed" });
    await poll(() => clock.pending).toBe(0);
    expect(harness.connections).toHaveLength(1);
  });
});
