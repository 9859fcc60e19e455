import { createMemoryStore } from "@harnesskit/graph";
import { describe, expect, it, vi } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createChatHarness } from "../src/index.ts";
import { approval, echo, gate, historyOf, line, says, textOf, user } from "./support/graphs.ts";
import { refusal } from "./support/refusal.ts";
import { texts } from "./support/texts.ts";

/** A harness whose turns wait at a gate. */
const gated = (
  options: { limits?: { maxQueuedTurns?: number; maxTurns?: number }; abandonAfterMs?: number } = {},
) => {
  const door = gate();
  const store = createMemoryStore();
  const graph = line({
    answer: async ({ messages }) => {
      await door.wait();
      return { messages: [says(`echo ${textOf(messages.at(-1))}`)] };
    },
  });
  return { door, store, harness: createChatHarness({ graph, store, ...options }) };
};

describe("send", () => {
  it("runs turns of one session one after the other, in the order of their arrival", async () => {
    const { door, store, harness } = gated();
    const turns = ["a", "b", "c"].map((text) => harness.send("s", user(text)));
    for (let turn = 0; turn < 3; turn++) {
      await vi.waitFor(() => expect(door.count).toBe(1));
      // Nobody else has come in while this one is inside.
      await nextTurn();
      expect(door.count).toBe(1);
      door.openOne();
    }
    expect((await Promise.all(turns)).map(texts)).toEqual([["echo a"], ["echo b"], ["echo c"]]);
    expect(await historyOf(store, "s")).toEqual(["a", "echo a", "b", "echo b", "c", "echo c"]);
  });

  it("runs turns of different sessions side by side", async () => {
    const { door, harness } = gated();
    const turns = ["s", "t", "u"].map((id) => harness.send(id, user("a")));
    await vi.waitFor(() => expect(door.count).toBe(3));
    door.openAll();
    expect((await Promise.all(turns)).map(texts)).toEqual([["echo a"], ["echo a"], ["echo a"]]);
  });

  describe("bounds", () => {
    it("refuses a turn when too many of its session wait, and takes the next one later", async () => {
      const { door, harness } = gated({ limits: { maxQueuedTurns: 2 } });
      const turns = ["a", "b", "c"].map((text) => harness.send("s", user(text)));
      expect((await refusal(harness.send("s", user("d")))).code).toBe("session_busy");
      const other = harness.send("t", user("a"));
      await vi.waitFor(() => expect(door.count).toBe(2));
      for (let turn = 0; turn < 4; turn++) {
        await vi.waitFor(() => expect(door.count).toBeGreaterThan(0));
        door.openOne();
      }
      expect((await Promise.all([...turns, other])).map(texts)).toHaveLength(4);
      const next = harness.send("s", user("e"));
      await vi.waitFor(() => expect(door.count).toBe(1));
      door.openAll();
      expect(texts(await next)).toEqual(["echo e"]);
    });

    it("refuses a turn when too many run in all", async () => {
      const { door, harness } = gated({ limits: { maxTurns: 2 } });
      const turns = [harness.send("s", user("a")), harness.send("t", user("a"))];
      expect((await refusal(harness.send("u", user("a")))).code).toBe("harness_busy");
      await vi.waitFor(() => expect(door.count).toBe(2));
      door.openAll();
      await Promise.all(turns);
      const next = harness.send("u", user("a"));
      await vi.waitFor(() => expect(door.count).toBe(1));
      door.openAll();
      expect(texts(await next)).toEqual(["echo a"]);
    });

    it.each([
      ["maxQueuedTurns", -1],
      ["maxTurns", 0],
      ["maxMessageBytes", 0.5],
      ["maxListeners", Number.NaN],
    ])("refuses a limit %s of %d", (name, value) => {
      expect(() => createChatHarness({ graph: echo(), limits: { [name]: value } })).toThrow(
        expect.objectContaining({ code: "invalid_argument" }),
      );
    });

    it.each([
      ["turnTimeoutMs", -1],
      ["abandonAfterMs", Number.POSITIVE_INFINITY],
    ])("refuses %s of %d", (name, value) => {
      expect(() => createChatHarness({ graph: echo(), [name]: value })).toThrow(
        expect.objectContaining({ code: "invalid_argument" }),
      );
    });
  });

  describe("a caller that gives up", () => {
    it("takes a waiting turn out of the queue", async () => {
      const { door, store, harness } = gated();
      const first = harness.send("s", user("a"));
      const controller = new AbortController();
      const second = harness.send("s", user("b"), { signal: controller.signal });
      const third = harness.send("s", user("c"));
      controller.abort(new TypeError("gone"));
      const error = await refusal(second);
      expect([error.code, (error.cause as Error).message]).toEqual(["turn_cancelled", "gone"]);
      for (let turn = 0; turn < 2; turn++) {
        await vi.waitFor(() => expect(door.count).toBe(1));
        door.openOne();
      }
      await Promise.all([first, third]);
      expect(await historyOf(store, "s")).toEqual(["a", "echo a", "c", "echo c"]);
    });

    it("never begins a turn for a signal that was aborted before", async () => {
      const { door, harness } = gated();
      const error = await refusal(harness.send("s", user("a"), { signal: AbortSignal.abort() }));
      expect([error.code, door.count]).toEqual(["turn_cancelled", 0]);
    });

    it("cancels a running turn, which leaves the session as it was", async () => {
      const store = createMemoryStore();
      const begun = gate();
      const graph = line({
        wait: async (_, { signal }) => {
          void begun.wait();
          await new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
        },
        answer: () => ({ messages: [says("too late")] }),
      });
      const harness = createChatHarness({ graph, store });
      const controller = new AbortController();
      const turn = harness.send("s", user("a"), { signal: controller.signal });
      await vi.waitFor(() => expect(begun.count).toBe(1));
      controller.abort();
      expect((await refusal(turn)).code).toBe("turn_cancelled");
      expect(await store.sessions.load("s")).toBeNull();
    });

    it("gives the outcome of a turn that ends all the same", async () => {
      const { door, store, harness } = gated();
      const controller = new AbortController();
      const turn = harness.send("s", user("a"), { signal: controller.signal });
      await vi.waitFor(() => expect(door.count).toBe(1));
      controller.abort();
      door.openAll();
      expect(texts(await turn)).toEqual(["echo a"]);
      expect(await historyOf(store, "s")).toEqual(["a", "echo a"]);
    });

    it("lets a turn that hangs keep its session, and no caller", async () => {
      const { door, harness } = gated({ abandonAfterMs: 0 });
      const turn = harness.send("s", user("a"), { timeoutMs: 0 });
      expect((await refusal(turn)).code).toBe("turn_abandoned");
      const waiting = harness.send("s", user("b"), { timeoutMs: 0 });
      expect((await refusal(waiting)).code).toBe("turn_timeout");
      const next = harness.send("s", user("c"));
      expect(door.count).toBe(1);
      door.openOne();
      await vi.waitFor(() => expect(door.count).toBe(1));
      door.openOne();
      expect(texts(await next)).toEqual(["echo c"]);
    });
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 31, "5", null])(
    "refuses a timeoutMs of %s, and nothing runs",
    async (timeoutMs) => {
      const { door, harness } = gated({ limits: { maxTurns: 1 } });
      const options = { timeoutMs } as { timeoutMs: number };
      await expect(harness.send("s", user("a"), options)).rejects.toMatchObject({ code: "invalid_argument" });
      expect(door.count).toBe(0);
      const next = harness.send("s", user("b"));
      await vi.waitFor(() => expect(door.count).toBe(1));
      door.openAll();
      expect(texts(await next)).toEqual(["echo b"]);
    },
  );

  it("gives up waiting for a session that another process has, and does not begin later", async () => {
    const { door, store, harness } = gated();
    const other = createChatHarness({ graph: echo(), store });
    const first = harness.send("s", user("a"));
    await vi.waitFor(() => expect(door.count).toBe(1));
    expect((await refusal(other.send("s", user("b"), { timeoutMs: 1 }))).code).toBe("turn_timeout");
    const third = other.send("s", user("c"));
    door.openAll();
    await first;
    expect(texts(await third)).toEqual(["echo c"]);
    expect(await historyOf(store, "s")).toEqual(["a", "echo a", "c", "echo c"]);
  });

  it("gives up a resume that waits for a session that another process has, and can be signalled again", async () => {
    const store = createMemoryStore();
    const harness = createChatHarness({ graph: approval(), store });
    await harness.send("s", user("pay"));
    const lease = await store.leases.acquire("session:s", { ttlMs: 60_000 });
    const signal = { signalId: "approve pay" };
    expect((await refusal(harness.signal(signal, { timeoutMs: 1 }))).code).toBe("turn_timeout");
    await lease.release();
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
    expect(await harness.signal(signal)).toMatchObject({ outcome: "resumed" });
  });

  describe("close", () => {
    it("refuses what waits and what comes, and waits for what runs", async () => {
      const { door, harness } = gated();
      const first = harness.send("s", user("a"));
      const second = harness.send("s", user("b"));
      await vi.waitFor(() => expect(door.count).toBe(1));
      const closed = harness.close();
      expect((await refusal(second)).code).toBe("harness_closed");
      expect((await refusal(harness.send("t", user("a")))).code).toBe("harness_closed");
      door.openAll();
      expect(texts(await first)).toEqual(["echo a"]);
      await closed;
      await harness.close();
    });

    it("does not wait for ever for what does not end", async () => {
      const { door, store, harness } = gated({ abandonAfterMs: 1 });
      const turn = refusal(harness.send("s", user("a")));
      await vi.waitFor(() => expect(door.count).toBe(1));
      expect((await refusal(harness.close({ timeoutMs: 1 }))).code).toBe("turn_abandoned");
      expect((await turn).code).toBe("turn_abandoned");
      door.openAll();
      await harness.close({ timeoutMs: 1000 });
      expect(await historyOf(store, "s")).toEqual(["a", "echo a"]);
    });

    it("cancels what does not end in time", async () => {
      const graph = line({
        wait: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          }),
      });
      const harness = createChatHarness({ graph });
      const turn = refusal(harness.send("s", user("a")));
      await harness.close({ timeoutMs: 0 });
      expect((await turn).code).toBe("turn_cancelled");
    });
  });
});
