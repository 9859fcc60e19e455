import { createManualClock } from "@harnesskit/wire/testing";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { clientOf, connected, poll, watcher } from "./support/client.ts";
import { FakeHarness } from "./support/fake-harness.ts";

const quick = { initialDelayMs: 0, maxDelayMs: 0, maxAttempts: Number.POSITIVE_INFINITY };

const disconnected = async (options: object = {}) => {
  const parts = await connected(undefined, { reconnect: quick, ...options });
  parts.harness.refuse();
  parts.harness.last.wire.kill();
  await poll(() => parts.client.state).toBe("reconnecting");
  return {
    ...parts,
    /** The harness is there again. */
    async reconnect() {
      parts.harness.refusesWith = undefined;
      await poll(() => parts.client.state).toBe("ready");
    },
  };
};

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);
const indexes = (harness: FakeHarness) => harness.events.map(({ payload }) => payload.index);

describe("notifications without a connection", () => {
  it("are kept, and sent in their order when there is one again", async () => {
    const { harness, client, lost, reconnect } = await disconnected();
    for (const index of upTo(500)) expect(client.notify("post_action", { index })).toBe(true);
    await reconnect();
    client.notify("post_action", { index: 500 });
    expect(await client.flush()).toBe(true);
    await harness.until("ahp/event", 501);
    expect(indexes(harness)).toEqual(upTo(501));
    expect(lost).toEqual([]);
  });

  it("beyond the number that is kept: the oldest are lost, and reported", async () => {
    const limits = { maxBufferedNotifications: 10 };
    const { harness, client, lost, reconnect } = await disconnected({ limits });
    for (const index of upTo(26)) expect(client.notify("post_action", { index })).toBe(true);
    expect(lost).toEqual(upTo(16).map((index) => ({ index, code: "overloaded" })));
    await reconnect();
    await harness.until("ahp/event", 10);
    expect(indexes(harness)).toEqual(upTo(10, 16));
  });

  it("are lost with the client", async () => {
    const { client, lost } = await disconnected();
    client.notify("post_action", { index: 1 });
    await client.close();
    expect(client.notify("post_action", { index: 2 })).toBe(false);
    expect(lost).toEqual([1, 2].map((index) => ({ index, code: "closed" })));
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
});

describe("notifications over a connection", () => {
  it("do not wait for the harness, even where it reads nothing", async () => {
    const { harness, client, lost } = await connected();
    for (const index of upTo(1000)) client.notify("post_action", { index });
    expect(harness.events).toEqual([]);
    expect(await client.flush()).toBe(true);
    expect(lost).toEqual([]);
  });

  it("keep their order with the requests that follow them", async () => {
    const { harness, client } = await connected();
    const calls: Promise<unknown>[] = [];
    for (let index = 0; index < 100; index += 2) {
      client.notify("post_action", { index });
      calls.push(client.decide("pre_action", { index: index + 1 }));
    }
    await Promise.all(calls);
    expect(indexes(harness)).toEqual(upTo(100));
  });

  it("too deep for the harness are lost at once, and too large for the transport", async () => {
    const { client, lost } = await connected();
    expect(client.notify("post_action", { index: 1 }, { depth: 11 })).toBe(false);
    expect(lost).toEqual([{ index: 1, code: "depth_exceeded" }]);
    expect(client.notify("post_action", { index: 2, text: "x".repeat(5 * 1024 * 1024) })).toBe(true);
    expect(await client.flush()).toBe(true);
    expect(lost.slice(1)).toEqual([{ index: 2, code: "unsendable" }]);
    expect((await client.decide("pre_action", {})).origin).toBe("harness");
  });
});

it("whatever happens to the connection, each notification arrives at most once and in order, or is reported as lost", async () => {
  // What a wire has when it is cut is lost unseen: so it has nothing from one step to the next, however long a busy machine takes for one.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant("notify" as const) },
    { weight: 1, arbitrary: fc.constantFrom("kill", "refuse", "accept", "ask", "wait") },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 1, max: 20 }),
      async (steps, maxBufferedNotifications) => {
        const { lost, onError } = watcher();
        const harness = new FakeHarness();
        const limits = { maxBufferedNotifications };
        const client = clientOf(harness, { limits, reconnect: quick, onError });
        await client.connect();
        let told = 0;
        for (const action of steps) {
          if (action === "notify") client.notify("post_action", { index: told++ });
          else if (action === "kill") harness.last.wire.kill();
          else if (action === "refuse") harness.refuse();
          else if (action === "accept") harness.refusesWith = undefined;
          else if (action === "ask") void client.decide("pre_action", {});
          else await nextTurn();
        }
        harness.refusesWith = undefined;
        expect(await client.flush()).toBe(true);
        await client.close();
        const seen = indexes(harness).filter((index) => index !== undefined);
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual([...seen].sort((one, other) => one - other));
        // What a cut connection had in its hands counts as lost, and may have arrived.
        const accounted = new Set([...seen, ...lost.map(({ index }) => index)]);
        expect(accounted.size).toBe(told);
        for (const { code } of lost) expect(["overloaded", "connection_lost"]).toContain(code);
      },
    ),
    { numRuns: runs(20) },
  );
});

describe("flush", () => {
  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, "5" as unknown as number])(
    "takes no time of %s",
    async (timeoutMs) => {
      const { client } = await connected();
      await expect(client.flush({ timeoutMs })).rejects.toMatchObject({ code: "invalid_argument" });
    },
  );

  it("waits no longer than it was asked to, and leaves nothing behind", async () => {
    const clock = createManualClock();
    const reconnect = { initialDelayMs: 60_000, maxDelayMs: 60_000 };
    const { harness, client } = await connected(undefined, { clock, reconnect });
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
