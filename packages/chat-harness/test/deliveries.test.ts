import { createMemoryStore, type GraphStore, StoreError } from "@harnesskit/graph";
import { systemClock } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createChatHarness } from "../src/index.ts";
import { approval, gate, historyOf, line, says, user } from "./support/graphs.ts";

const pay = { signalId: "approve pay", payload: { approved: true } };
const quiet = { onError: () => {} };
/** A store whose leases are given back only when a door is opened: what was stored is there, and its run has not ended. */
const slowToRelease = () => {
  const inner = createMemoryStore();
  const door = gate();
  let isSlow = false;
  const store: GraphStore = {
    ...inner,
    leases: {
      acquire: async (key, options) => {
        const lease = await inner.leases.acquire(key, options);
        return {
          ...lease,
          async release() {
            if (isSlow) await door.wait();
            await lease.release();
          },
        };
      },
    },
  };
  return {
    store,
    door,
    /** From now on. */
    slowDown: () => {
      isSlow = true;
    },
    open: () => {
      isSlow = false;
      door.openAll();
    },
  };
};

describe("The end of a resumed turn", () => {
  it.each(["at once", "later"])(
    "reaches a listener that came while it was kept, and takes it %s, and the one before it, each once",
    async (when) => {
      const { store, door, slowDown, open } = slowToRelease();
      const harness = createChatHarness({ graph: approval(), store });
      const heard: string[] = [];
      const taking = gate();
      harness.subscribe("s", () => heard.push("first"));
      await harness.send("s", user("pay"));
      slowDown();
      const signalled = harness.signal(pay);
      await vi.waitFor(async () =>
        expect(await store.suspensions.list({ isDelivered: false })).toHaveLength(1),
      );
      await vi.waitFor(() => expect(door.count).toBeGreaterThan(0));
      harness.subscribe("s", () => {
        heard.push("second");
        return when === "later" ? taking.wait() : undefined;
      });
      await vi.waitFor(() => expect(heard).toEqual(["second"]));
      open();
      await signalled;
      taking.openAll();
      await vi.waitFor(async () => expect((await harness.pending()).undelivered).toEqual([]));
      await harness.recover();
      await nextTurn();
      expect(heard).toEqual(["second", "first"]);
    },
  );

  it("reaches a listener that came while another one dealt with it and failed", async () => {
    const harness = createChatHarness({ graph: approval(), ...quiet });
    const door = gate();
    harness.subscribe("s", async () => {
      await door.wait();
      throw new TypeError("a listener fails");
    });
    await harness.send("s", user("pay"));
    await harness.signal(pay);
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => heard.push(turn));
    await nextTurn();
    expect(heard).toEqual([]);
    door.openAll();
    await vi.waitFor(() =>
      expect(heard).toEqual([
        { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" },
      ]),
    );
    await vi.waitFor(async () => expect((await harness.pending()).undelivered).toEqual([]));
  });

  it("does not reach a listener that another one has taken back", async () => {
    const harness = createChatHarness({ graph: approval() });
    const heard: string[] = [];
    let stop = () => {};
    harness.subscribe("s", () => {
      heard.push("first");
      stop();
    });
    stop = harness.subscribe("s", () => heard.push("second"));
    await harness.send("s", user("pay"));
    await harness.signal(pay);
    expect(heard).toEqual(["first"]);
  });

  it("is not disturbed by being acknowledged before there is one", async () => {
    const store = createMemoryStore();
    const door = gate();
    const warnings: unknown[] = [];
    const graph = line({
      wait: (_, { suspend }) => suspend({ signal_id: "x" }),
      work: () => door.wait(),
      say: () => ({ messages: [says("done")] }),
    });
    const harness = createChatHarness({ graph, store, onError: (error) => warnings.push(error) });
    const paused = await harness.send("s", user("a"));
    const signalled = harness.signal({ signalId: "x" });
    await vi.waitFor(() => expect(door.count).toBe(1));
    await harness.acknowledge(paused.outcome === "suspended" ? paused.invocation_id : "");
    await harness.acknowledge("nobody");
    door.openAll();
    const turn = { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" };
    expect(await signalled).toMatchObject({ outcome: "resumed", turn });
    expect((await harness.pending()).undelivered).toMatchObject([{ turn }]);
    expect(warnings).toEqual([]);
  });
});

describe("A resumed turn that has lost its leases", () => {
  it.each(["before", "after"])(
    "and ends %s the one that took it over, leaves the end to that",
    async (when) => {
      let passedMs = 0;
      const clock = { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + passedMs };
      const store = createMemoryStore({ clock });
      const door = gate();
      const graph = line({
        wait: (_, { suspend }) => suspend({ signal_id: "x" }),
        work: () => door.wait(),
        say: () => ({ messages: [says("done")] }),
      });
      const [first, second] = [1, 2].map(() => createChatHarness({ graph, store, clock }));
      const heard: unknown[] = [];
      first?.subscribe("s", (turn) => heard.push(turn));
      await first?.send("s", user("a"));
      const lost = first?.signal({ signalId: "x" });
      await vi.waitFor(() => expect(door.count).toBe(1));
      // As long as a process stands still that was stopped.
      passedMs = 3_600_000;
      const taken = second?.signal({ signalId: "x" });
      await vi.waitFor(() => expect(door.count).toBe(2));
      // The one that began first waits at the head.
      if (when === "before") door.openOne();
      else door.openAll();
      const outcome = await (when === "before" ? lost : Promise.all([taken, lost]).then(([, last]) => last));
      door.openAll();
      const failure = { outcome: "resumed", turn: { error_category: "session_write_conflict" } };
      expect(outcome).toMatchObject(when === "before" ? failure : { outcome: "already_resolved" });
      expect(await taken).toEqual({ outcome: "already_resolved" });
      // What was told of a turn that is not over yet is no end of it.
      expect(heard.splice(0)).toEqual([]);
      expect(await historyOf(store, "s")).toEqual(["a", "done"]);
      const turn = { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" };
      expect((await second?.pending())?.undelivered).toMatchObject([{ turn }]);
      await first?.recover();
      await vi.waitFor(() => expect(heard).toEqual([turn]));
    },
  );
});

describe("A store that cannot keep the end of a resumed turn", () => {
  it("has the turn wait for a signal again", async () => {
    const memory = createMemoryStore();
    let isFailing = false;
    const store: GraphStore = {
      ...memory,
      commit: async (batch) => {
        if (isFailing) throw new StoreError("store_failed", "it fails as told");
        return memory.commit(batch);
      },
    };
    const harness = createChatHarness({ graph: approval(), store });
    const heard: string[] = [];
    harness.subscribe("s", ({ outcome }) => heard.push(outcome));
    await harness.send("s", user("pay"));
    isFailing = true;
    expect(await harness.signal(pay)).toMatchObject({ turn: { error_category: "session_save_failed" } });
    isFailing = false;
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
    const no = await harness.signal({ signalId: "approve pay", payload: { approved: false } });
    expect(no).toMatchObject({ outcome: "resumed", turn: { replies: [says("not done")] } });
    expect(heard).toEqual(["completed"]);
  });
});
