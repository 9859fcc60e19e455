import { createMemoryStore, type GraphStore } from "@harnesskit/graph";
import { describe, expect, it, vi } from "vitest";
import type { ResumedTurn } from "../src/deliveries.ts";
import { createChatHarness } from "../src/index.ts";
import { approval, gate, historyOf, line, says, user } from "./support/graphs.ts";
import { failed, refusal } from "./support/refusal.ts";
import { type StoreCall, watchedStore } from "./support/stores.ts";
import { texts } from "./support/texts.ts";

const pay = { signalId: "approve pay", payload: { approved: true } };
const quiet = { onError: () => {} };

/** A harness over a store that can be made to fail, with a turn that waits, and what a listener hears. */
const paused = async () => {
  const store = watchedStore();
  const harness = createChatHarness({ graph: approval(), store, ...quiet });
  const heard: ResumedTurn[] = [];
  harness.subscribe("s", (turn) => heard.push(turn));
  await harness.send("s", user("pay"));
  store.calls.length = 0;
  return { store, harness, heard };
};

/** What a process leaves behind that dies behind the accepted signal, and before the run. */
const acceptedByTheDead = async (
  store: GraphStore,
  payload: Record<string, boolean | number>,
): Promise<void> => {
  const [record] = await store.suspensions.list({ status: "suspended" });
  const signal = { payload, accepted_at: new Date(0).toISOString() };
  await store.suspensions.save({ kind: "patch", invocationId: record?.invocation_id as string, signal });
};

describe("A store that fails", () => {
  it.each<[StoreCall, string]>([
    ["leases.acquire", "session_load_failed session_terminating"],
    ["sessions.load", "session_load_failed session_terminating"],
    ["commit", "session_save_failed session_terminating"],
  ])("in a turn, at %s: the session stays, and the next turn runs", async (call, failure) => {
    const store = watchedStore();
    const harness = createChatHarness({ graph: approval(), store });
    await harness.send("s", user("chat 1"));
    store.failing.add(call);
    expect(failed(await harness.send("s", user("chat 2")))).toBe(failure);
    store.failing.clear();
    await harness.send("s", user("chat 3"));
    expect(await historyOf(store, "s")).toEqual(["chat 1", "you said chat 1", "chat 3", "you said chat 3"]);
  });

  it("at a pause: nothing is stored, and the signal is free", async () => {
    const store = watchedStore();
    const harness = createChatHarness({ graph: approval(), store });
    store.failing.add("commit");
    const outcome = await harness.send("s", user("pay"));
    expect(failed(outcome)).toBe("suspension_persistence_failed session_terminating");
    store.failing.clear();
    expect([await store.sessions.load("s"), await store.suspensions.list()]).toEqual([null, []]);
    expect(failed(await harness.signal(pay))).toBe("harness_signal_correlation_failed user_correctable");
    expect(await harness.send("s", user("pay"))).toMatchObject({ outcome: "suspended" });
  });

  it.each<StoreCall>(["suspensions.list", "suspensions.load", "suspensions.save", "leases.acquire"])(
    "at a signal, at %s: nothing has run, and it can be signalled again",
    async (call) => {
      const { store, harness, heard } = await paused();
      store.failing.add(call);
      expect(failed(await harness.signal(pay))).toBe("suspension_persistence_failed session_terminating");
      expect(heard).toEqual([]);
      store.failing.clear();
      expect(await harness.signal(pay)).toMatchObject({
        outcome: "resumed",
        turn: { replies: [says("done")] },
      });
      expect(heard).toHaveLength(1);
    },
  );

  it("when a resumed turn loads its session: nothing has run, and it can be signalled again", async () => {
    const { store, harness, heard } = await paused();
    store.failing.add("sessions.load");
    expect(failed(await harness.signal(pay))).toBe("session_load_failed session_terminating");
    store.failing.clear();
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
    expect(await harness.signal(pay)).toMatchObject({ outcome: "resumed" });
    expect(heard).toHaveLength(1);
  });

  it("at the end of a resumed turn: it is no end for listeners, and can be signalled again", async () => {
    const { store, harness, heard } = await paused();
    store.failing.add("commit");
    const outcome = await harness.signal(pay);
    expect(outcome).toMatchObject({ outcome: "resumed", turn: { error_category: "session_save_failed" } });
    store.failing.clear();
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?"]);
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
    expect(await harness.signal(pay)).toMatchObject({ outcome: "resumed", turn: { outcome: "completed" } });
    expect(heard.map(({ outcome }) => outcome)).toEqual(["completed"]);
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
  });

  it("when a delivery is marked: it is a warning, and the turn is not told again", async () => {
    const store = watchedStore();
    const warnings: string[] = [];
    const onError = (_: unknown, { kind }: { kind: string }) => warnings.push(kind);
    const harness = createChatHarness({ graph: approval(), store, onError });
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => {
      store.failing.add("suspensions.save");
      heard.push(turn);
    });
    await harness.send("s", user("pay"));
    await harness.signal(pay);
    await vi.waitFor(() => expect(warnings).toEqual(["delivery_failed"]));
    store.failing.clear();
    await harness.recover();
    harness.subscribe("s", (turn) => heard.push(turn));
    expect((await harness.pending()).undelivered).toEqual([]);
    expect(heard).toHaveLength(1);
  });

  it("when a listener is added: it is a warning, and what comes is told", async () => {
    const { store, harness } = await paused();
    store.failing.add("suspensions.list");
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => heard.push(turn));
    await vi.waitFor(() => expect(store.calls).toContain("suspensions.list"));
    await expect(harness.pending()).rejects.toMatchObject({ name: "StoreError", code: "store_failed" });
    await expect(harness.recover()).rejects.toMatchObject({ name: "StoreError", code: "store_failed" });
    store.failing.clear();
    await harness.signal(pay);
    expect(heard).toHaveLength(1);
  });
});

describe("A payload", () => {
  const wrong = "suspension_resume_payload_invalid user_correctable";
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  it.each([
    ["does not fit the state", { approved: "yes" }],
    ["is a text", "yes"],
    ["is a list", [true]],
    ["has what is no JSON", { approved: () => true }],
    ["contains itself", cyclic],
    ["is too long", { approved: true, note: "x".repeat(1000) }],
    ["replaces the history", { approved: true, messages: [] }],
  ])("that %s leaves the turn waiting", async (_, payload) => {
    const store = createMemoryStore();
    const harness = createChatHarness({ graph: approval(), store, limits: { maxPayloadBytes: 1000 } });
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => heard.push(turn));
    await harness.send("s", user("pay"));
    expect(failed(await harness.signal({ ...pay, payload: payload as never }))).toBe(wrong);
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
    expect(heard).toEqual([]);
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?"]);
    expect(await harness.signal(pay)).toMatchObject({ outcome: "resumed", turn: { outcome: "completed" } });
  });

  it("with a field that the state does not have is refused, and the turn waits", async () => {
    const harness = createChatHarness({ graph: approval() });
    await harness.send("s", user("pay"));
    expect(await harness.signal({ ...pay, payload: { approved: true, other: 1 } })).toMatchObject({
      outcome: "errored",
      error_bucket: "user_correctable",
      error_category: "suspension_resume_payload_invalid",
    });
    expect((await harness.pending()).suspended).toHaveLength(1);
    const payload = JSON.parse('{"approved":true,"__proto__":{"approved":false}}');
    expect(await harness.signal({ ...pay, payload })).toMatchObject({ turn: { replies: [says("done")] } });
  });
});

describe("A process that dies", () => {
  it("behind an accepted signal: the next one goes on with it", async () => {
    const { store, harness, heard } = await paused();
    await acceptedByTheDead(store, { approved: true });
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: true }]);
    const next = createChatHarness({ graph: approval(), store });
    next.subscribe("s", (turn) => heard.push(turn));
    expect(await next.recover()).toEqual({ resumed_count: 1, failed_count: 0, delivered_count: 0 });
    expect(heard).toEqual([
      { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" },
    ]);
    expect(await next.recover()).toEqual({ resumed_count: 0, failed_count: 0, delivered_count: 0 });
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
  });

  it("behind an accepted signal: the first signal counts, whatever comes later", async () => {
    const { store, harness } = await paused();
    await acceptedByTheDead(store, { approved: true });
    const later = await harness.signal({ signalId: "approve pay", payload: { approved: false } });
    expect(later).toEqual({ outcome: "already_resolved" });
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
  });

  it("behind a signal that does not fit: a later one counts", async () => {
    const { store, harness } = await paused();
    await acceptedByTheDead(store, { approved: 7 });
    expect(await harness.signal(pay)).toMatchObject({
      outcome: "resumed",
      turn: { replies: [says("done")] },
    });
  });

  it("behind a signal that does not fit: recovering is a warning, and it waits", async () => {
    const { store } = await paused();
    await acceptedByTheDead(store, { approved: 7 });
    const warnings: string[] = [];
    const onError = (_: unknown, { kind }: { kind: string }) => warnings.push(kind);
    const next = createChatHarness({ graph: approval(), store, onError });
    expect(await next.recover()).toMatchObject({ resumed_count: 0, failed_count: 1 });
    expect(warnings).toEqual(["recovery_failed"]);
    expect((await next.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
  });

  it("behind the end of a resumed turn: the next one delivers it", async () => {
    const store = createMemoryStore();
    const first = createChatHarness({ graph: approval(), store });
    await first.send("s", user("pay"));
    const resumed = await first.signal(pay);
    const invocation = resumed.outcome === "resumed" ? resumed.invocation_id : "";
    const next = createChatHarness({ graph: approval(), store });
    const turn = { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" };
    const open = { suspended: [], undelivered: [{ session_id: "s", invocation_id: invocation, turn }] };
    expect([await next.pending(), await next.pending("s")]).toEqual([open, open]);
    expect(await next.pending("t")).toEqual({ suspended: [], undelivered: [] });
    const heard: unknown[] = [];
    next.subscribe("s", (ended, { invocation_id }) => heard.push([invocation_id, ended]));
    await vi.waitFor(() => expect(heard).toEqual([[invocation, turn]]));
    await vi.waitFor(async () => expect((await next.pending()).undelivered).toEqual([]));
  });

  it("leaves what can be acknowledged without a listener", async () => {
    const store = createMemoryStore();
    const harness = createChatHarness({ graph: approval(), store });
    await harness.send("s", user("pay"));
    await harness.signal(pay);
    const [delivery] = (await harness.pending()).undelivered;
    await harness.acknowledge(delivery?.invocation_id as string);
    await harness.acknowledge(delivery?.invocation_id as string);
    expect((await createChatHarness({ graph: approval(), store }).pending()).undelivered).toEqual([]);
  });
});

describe("A resumed turn", () => {
  /** A graph whose second half waits at a gate. */
  const gated = () => {
    const door = gate();
    const store = createMemoryStore();
    const graph = line({
      wait: (_, { suspend }) => suspend({ signal_id: "x" }),
      work: () => door.wait(),
      say: () => ({ messages: [says("done")] }),
    });
    return { door, store, harness: createChatHarness({ graph, store, ...quiet }) };
  };

  it("that is cancelled can be signalled again, and nobody is told", async () => {
    const { door, store, harness } = gated();
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => heard.push(turn));
    await harness.send("s", user("a"));
    const controller = new AbortController();
    const turn = harness.signal({ signalId: "x" }, { signal: controller.signal });
    await vi.waitFor(() => expect(door.count).toBe(1));
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: true }]);
    controller.abort();
    door.openAll();
    expect((await refusal(turn)).code).toBe("turn_cancelled");
    expect([heard, await historyOf(store, "s")]).toEqual([[], ["a"]]);
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: false }]);
    const again = harness.signal({ signalId: "x" });
    await vi.waitFor(() => expect(door.count).toBe(1));
    door.openAll();
    expect(await again).toMatchObject({ outcome: "resumed", turn: { replies: [says("done")] } });
  });

  it("that was taken by another program over the same store is already resolved", async () => {
    const store = createMemoryStore();
    const harness = createChatHarness({ graph: approval(), store });
    const paused = await harness.send("s", user("pay"));
    const resumeInvocation = paused.outcome === "suspended" ? paused.invocation_id : "";
    const payload = { approved: true };
    await harness.graph.invoke({ resumeInvocation, signalPayload: payload });
    expect(await harness.signal(pay)).toEqual({ outcome: "already_resolved" });
  });

  it("that a dead process has begun goes on once its lease has run out", async () => {
    const store = createMemoryStore();
    const harness = createChatHarness({ graph: approval(), store });
    const paused = await harness.send("s", user("pay"));
    const key = `invocation:${paused.outcome === "suspended" ? paused.invocation_id : ""}`;
    await store.leases.acquire(key, { ttlMs: 50 });
    expect(await harness.signal(pay)).toMatchObject({
      outcome: "resumed",
      turn: { replies: [says("done")] },
    });
  });

  it("that another program works on for long is already resolved", async () => {
    const store = createMemoryStore();
    const session = { leaseWaitMs: 1 };
    const harness = createChatHarness({ graph: approval(), store, session });
    const paused = await harness.send("s", user("pay"));
    const key = `invocation:${paused.outcome === "suspended" ? paused.invocation_id : ""}`;
    const lease = await store.leases.acquire(key, { ttlMs: 60_000 });
    expect(await harness.signal(pay)).toEqual({ outcome: "already_resolved" });
    await lease.release();
    expect(await harness.recover()).toMatchObject({ resumed_count: 1, failed_count: 0 });
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
  });

  it("whose record was deleted waits for nothing", async () => {
    const store = createMemoryStore();
    const harness = createChatHarness({ graph: approval(), store });
    const paused = await harness.send("s", user("pay"));
    await store.suspensions.delete(paused.outcome === "suspended" ? paused.invocation_id : "");
    expect(failed(await harness.signal(pay))).toBe("harness_signal_correlation_failed user_correctable");
    expect(texts(await harness.send("s", user("chat")))).toEqual(["you said chat"]);
  });
});

describe("Those who are told", () => {
  it("of turns may throw or reject", async () => {
    const warnings: string[] = [];
    const onError = (_: unknown, { kind }: { kind: string }) => {
      warnings.push(kind);
      throw new TypeError("whoever is warned fails");
    };
    const failing = [
      () => {
        throw new TypeError("a report fails");
      },
      async () => Promise.reject(new TypeError("a report fails")),
    ];
    for (const onTurn of failing) {
      const harness = createChatHarness({ graph: approval(), onTurn, onError });
      expect(texts(await harness.send("s", user("chat")))).toEqual(["you said chat"]);
    }
    await vi.waitFor(() => expect(warnings).toEqual(["report_failed", "report_failed"]));
  });
});
