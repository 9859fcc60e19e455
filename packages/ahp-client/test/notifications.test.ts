import { createManualClock } from "@harnesskit/wire/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import type { LossReport } from "../src/loss-report.ts";
import { clientOf, connected, poll } from "./support/client.ts";
import { afterHandshake, agree, FakeHarness } from "./support/fake-harness.ts";
import { handshakeResult } from "./support/samples.ts";

const quick = { initialDelayMs: 0, maxDelayMs: 0, maxAttempts: Number.POSITIVE_INFINITY };

const disconnected = async (options: object = {}) => {
  const losses: LossReport[] = [];
  const parts = await connected(undefined, {
    reconnect: quick,
    onLoss: (report) => void losses.push(report),
    ...options,
  });
  parts.harness.refuse();
  parts.harness.last.wire.kill();
  await poll(() => parts.client.state).toBe("reconnecting");
  return {
    ...parts,
    losses,
    /** The harness is there again. */
    async reconnect() {
      parts.harness.refusesWith = undefined;
      await poll(() => parts.client.state).toBe("ready");
    },
  };
};

const indexes = (harness: FakeHarness, from = 0) =>
  harness.events.slice(from).map(({ payload }) => payload.index ?? payload.code);

describe("notifications without a connection", () => {
  it("are kept, and sent in their order when there is one again", async () => {
    const { harness, client, losses, reconnect } = await disconnected();
    for (let index = 0; index < 500; index++) {
      expect(client.notify("post_action", { index }).accepted).toBe(true);
    }
    expect(client.stats()).toMatchObject({ notificationsBuffered: 500, notificationsSent: 0 });
    await reconnect();
    client.notify("post_action", { index: 500 });
    expect(await client.flush()).toBe(true);
    await harness.until("ahp/event", 501);
    expect(indexes(harness)).toEqual(Array.from({ length: 501 }, (_, index) => index));
    expect(losses).toEqual([]);
    expect(client.stats()).toMatchObject({
      notificationsBuffered: 0,
      notificationsSent: 501,
      notificationsLost: 0,
      reconnects: 1,
    });
  });

  it("beyond the number that is kept: the oldest are lost, counted, and reported to both sides", async () => {
    const limits = { maxBufferedNotifications: 10 };
    const { harness, client, losses, reconnect } = await disconnected({ limits });
    for (let index = 0; index < 25; index++) client.notify("post_action", { index });
    client.notify("session_end", { index: 25 });
    expect(client.stats()).toMatchObject({ notificationsBuffered: 10, notificationsLost: 16 });
    expect(losses).toEqual([]);
    await reconnect();
    await harness.until("ahp/event", 11);
    expect(indexes(harness)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25, "notifications_lost"]);
    expect(losses).toHaveLength(1);
    expect(losses[0]).toEqual({
      count: 16,
      bytes: expect.any(Number),
      byType: { post_action: 16 },
      byReason: { overflow: 16 },
      messages: {},
      since: expect.any(Number),
      until: expect.any(Number),
    });
    expect(client.stats()).toMatchObject({ notificationsSent: 10, notificationsLost: 16 });
    expect(harness.events.at(-1)).toMatchObject({
      event_type: "error",
      payload: {
        code: "notifications_lost",
        count: 16,
        bytes: losses[0]?.bytes,
        by_type: { post_action: 16 },
        by_reason: { overflow: 16 },
        since: expect.stringMatching(/Z$/),
        until: expect.stringMatching(/Z$/),
      },
    });
  });

  it("beyond the bytes that are kept are lost too, also one that is too large by itself", async () => {
    const { client, losses } = await disconnected({ limits: { maxBufferedBytes: 2000 } });
    const text = "é".repeat(300);
    for (let index = 0; index < 5; index++) client.notify("post_action", { index, text });
    expect(client.stats()).toMatchObject({ notificationsBuffered: 2, notificationsLost: 3 });
    expect(client.notify("post_action", { text: text.repeat(10) }).accepted).toBe(false);
    expect(client.stats()).toMatchObject({ notificationsBuffered: 0, notificationsLost: 6 });
    await client.close();
    expect(losses.map(({ count, byReason }) => ({ count, byReason }))).toEqual([
      { count: 6, byReason: { overflow: 6 } },
    ]);
    expect(losses[0]?.bytes).toBeGreaterThan(5 * 600);
  });

  it("are lost with the client, and that is told", async () => {
    const { client, losses } = await disconnected();
    client.notify("post_action", {});
    client.notify("error", {});
    await client.close();
    expect(losses).toMatchObject([
      { count: 2, byType: { post_action: 1, error: 1 }, byReason: { closed: 2 } },
    ]);
    expect(client.notify("post_action", {})).toEqual({ decision: { decision: "allow" }, accepted: false });
    await poll(() => losses).toHaveLength(2);
    expect(losses[1]).toMatchObject({ count: 1, byReason: { closed: 1 } });
    expect(client.stats()).toMatchObject({ notificationsBuffered: 0, notificationsLost: 3 });
    expect(await client.flush()).toBe(true);
  });

  it("are kept also when no attempt is made any more, until a handshake succeeds", async () => {
    const { harness, client } = await connected(undefined, { reconnect: false });
    harness.last.wire.kill();
    await poll(() => client.state).toBe("lost");
    client.notify("post_action", { index: 1 });
    expect(await client.flush({ timeoutMs: 1 })).toBe(false);
    await client.connect();
    expect(await client.flush()).toBe(true);
    await harness.until("ahp/event", 1);
    expect(indexes(harness)).toEqual([1]);
  });

  it("tell the harness of no losses where that is not wanted", async () => {
    const limits = { maxBufferedNotifications: 1 };
    const { harness, client, losses, reconnect } = await disconnected({ limits, reportLosses: false });
    client.notify("post_action", { index: 0 });
    client.notify("post_action", { index: 1 });
    await reconnect();
    await client.flush();
    expect(losses).toHaveLength(1);
    expect((await client.decide("pre_action", { index: "gate" })).origin).toBe("harness");
    expect(indexes(harness)).toEqual([1, "gate"]);
  });
});

describe("notifications over a connection", () => {
  it("do not wait for the harness, even where it reads nothing", async () => {
    const { harness, client } = await connected();
    for (let index = 0; index < 1000; index++) client.notify("post_action", { index });
    expect(harness.events).toEqual([]);
    expect(await client.flush()).toBe(true);
    expect(client.stats()).toMatchObject({ notificationsSent: 1000, notificationsLost: 0 });
  });

  it("keep their order with the requests that follow them", async () => {
    const { harness, client } = await connected();
    const calls: Promise<unknown>[] = [];
    for (let index = 0; index < 100; index += 2) {
      client.notify("post_action", { index });
      calls.push(client.decide("pre_action", { index: index + 1 }));
    }
    await Promise.all(calls);
    expect(indexes(harness)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  it("too deep for the harness are lost at once, and several of one moment are one report", async () => {
    const losses: LossReport[] = [];
    const { harness, client } = await connected(undefined, { onLoss: (report) => void losses.push(report) });
    client.notify("post_action", {}, { depth: 11 });
    client.notify("error", {}, { depth: 12 });
    await harness.until("ahp/event", 1);
    expect(losses).toMatchObject([{ count: 2, byReason: { depth_exceeded: 2 } }]);
    expect(harness.events.map(({ payload }) => payload)).toMatchObject([
      { code: "notifications_lost", count: 2, by_type: { post_action: 1, error: 1 } },
    ]);
    expect(client.stats()).toMatchObject({ notificationsLost: 2, notificationsSent: 0 });
  });

  it("that were in the hands of a connection that was cut are lost and never sent twice", async () => {
    const losses: LossReport[] = [];
    const { harness, client } = await connected(undefined, {
      reconnect: quick,
      onLoss: (report) => void losses.push(report),
    });
    for (let index = 0; index < 300; index++) client.notify("post_action", { index });
    harness.last.wire.kill();
    await poll(() => client.stats().reconnects).toBe(1);
    expect(await client.flush()).toBe(true);
    const { notificationsSent: sent, notificationsLost: lost } = client.stats();
    await client.decide("pre_action", { index: "gate" });
    const seen = indexes(harness).filter((index) => typeof index === "number");
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    expect(lost).toBeGreaterThan(0);
    expect(losses.reduce((sum, { count }) => sum + count, 0)).toBe(lost);
    expect(sent + lost).toBe(300);
    expect(harness.events.filter(({ payload }) => payload.code).map(({ payload }) => payload.count)).toEqual([
      lost,
    ]);
  });
});

describe("whatever happens to the connection", () => {
  it("each notification arrives once and in order, or is counted as lost", async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constant("notify" as const) },
      { weight: 1, arbitrary: fc.constantFrom("kill", "refuse", "accept", "ask", "wait") },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: 1, max: 20 }),
        async (steps, kept) => {
          const reports: LossReport[] = [];
          const harness = new FakeHarness();
          const client = clientOf(harness, {
            limits: { maxBufferedNotifications: kept },
            reconnect: quick,
            reportLosses: false,
            onLoss: (report) => void reports.push(report),
          });
          await client.connect();
          let told = 0;
          for (const action of steps) {
            if (action === "notify") client.notify("post_action", { index: told++ });
            else if (action === "kill") harness.last.wire.kill();
            else if (action === "refuse") harness.refuse();
            else if (action === "accept") harness.refusesWith = undefined;
            else if (action === "ask") void client.decide("pre_action", {});
            else await nextTurn();
            expect(client.stats().notificationsBuffered).toBeLessThanOrEqual(kept);
          }
          harness.refusesWith = undefined;
          expect(await client.flush()).toBe(true);
          await client.close();
          const { notificationsSent: sent, notificationsLost: lost, notificationsBuffered } = client.stats();
          expect({ notificationsBuffered, all: sent + lost }).toEqual({
            notificationsBuffered: 0,
            all: told,
          });
          expect(reports.reduce((sum, { count }) => sum + count, 0)).toBe(lost);
          const seen = indexes(harness).filter((index) => index !== undefined);
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen).toEqual([...seen].sort((one, other) => one - other));
          expect(seen.length).toBeLessThanOrEqual(sent + lost);
        },
      ),
      { numRuns: runs(20) },
    );
  });
});

describe("flush", () => {
  it.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY, "5" as unknown as number])(
    "takes no time of %s",
    async (timeoutMs) => {
      const { client } = await connected();
      await expect(client.flush({ timeoutMs })).rejects.toMatchObject({ code: "invalid_argument" });
    },
  );

  it("waits no longer than it is told, and leaves nothing behind", async () => {
    const clock = createManualClock();
    const { harness, client } = await connected(undefined, {
      clock,
      reconnect: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
    });
    harness.last.wire.kill();
    await poll(() => client.state).toBe("reconnecting");
    client.notify("post_action", {});
    const timers = clock.pending;
    const short = client.flush({ timeoutMs: 100 });
    const long = client.flush({ timeoutMs: 200_000 });
    clock.advance(100);
    expect(await short).toBe(false);
    expect(clock.pending).toBe(timers + 1);
    clock.advance(60_000);
    expect(await long).toBe(true);
  });
});

describe("a harness that does not take notifications of a kind", () => {
  it("is told all the same: only events with a decision of their own need a capability", async () => {
    const { harness_info } = handshakeResult();
    const { harness, client } = await connected(
      afterHandshake(agree, { harness_info: { ...harness_info, capabilities: [] } }),
    );
    client.notify("heartbeat", { uptime_ms: 1, total_events_processed: 1, current_state: "working" });
    expect(await client.flush()).toBe(true);
    await harness.until("ahp/event", 1);
    expect(client.stats().notificationsLost).toBe(0);
  });
});
