import {
  createMemoryStore,
  defineGraph,
  END,
  type GraphStore,
  type NodeBody,
  StoreError,
} from "@harnesskit/graph";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it, vi } from "vitest";
import type { ResumedTurn } from "../src/deliveries.ts";
import { type ChatHarnessOptions, createChatHarness } from "../src/index.ts";
import { approval, historyOf, says, state, type TestFields, textOf, user } from "./support/graphs.ts";
import { type StoreCall, watchedStore } from "./support/stores.ts";
import { texts } from "./support/texts.ts";

type Body = NodeBody<TestFields>;
type Policy = NonNullable<ChatHarnessOptions<TestFields>["interruptedTurns"]>;

const everyCall: readonly StoreCall[] = [
  "sessions.load",
  "suspensions.load",
  "suspensions.save",
  "suspensions.list",
  "leases.acquire",
  "commit",
];

/** A storage whose workers die where a node says so: nothing of them reaches it any more. */
const storage = () => {
  const clock = createManualClock();
  const store = createMemoryStore({ clock });
  return {
    clock,
    store,
    worker(
      graph: (die: () => void) => ChatHarnessOptions<TestFields>["graph"],
      interruptedTurns: Policy,
      options: Partial<ChatHarnessOptions<TestFields>> = {},
    ) {
      clock.advance(60_000);
      const own = watchedStore(store);
      const die = () => {
        for (const call of everyCall) own.failing.add(call);
      };
      return createChatHarness({
        graph: graph(die),
        store: own,
        clock,
        interruptedTurns,
        onError: () => {},
        ...options,
      });
    },
  };
};

/** A graph of two nodes; the second is what a test says. */
const plan = (act: Body, isIdempotent = false) =>
  defineGraph(state)
    .node("think", ({ messages }) => ({ messages: [says(`thought of ${textOf(messages.at(-1))}`)] }))
    .node("act", act, { idempotent: isIdempotent })
    .edge("think", "act")
    .edge("act", END)
    .entry("think");

const acts: Body = () => ({ messages: [says("acted")] });

const listen = (harness: { subscribe(id: string, listener: (turn: ResumedTurn) => void): unknown }) => {
  const heard: ResumedTurn[] = [];
  harness.subscribe("s", (turn) => {
    heard.push(turn);
  });
  return heard;
};

const dieIn = async (
  { worker }: ReturnType<typeof storage>,
  policy: Policy,
  isIdempotent: boolean,
): Promise<void> => {
  const dying = worker(
    (die) =>
      plan(() => {
        die();
        return { messages: [says("lost")] };
      }, isIdempotent),
    policy,
  );
  expect((await dying.send("s", user("one"))).outcome).toBe("errored");
};

describe("a turn whose process died", () => {
  it("is gone on with before the next turn of its session, and its end reaches the listeners once", async () => {
    const all = storage();
    await dieIn(all, "retry", true);
    const harness = all.worker(() => plan(acts, true), "retry");
    const heard = listen(harness);
    expect(texts(await harness.send("s", user("two")))).toEqual(["thought of two", "acted"]);
    const history = ["one", "thought of one", "acted", "two", "thought of two", "acted"];
    expect(await historyOf(all.store, "s")).toEqual(history);
    await vi.waitFor(() =>
      expect(heard).toEqual([{ outcome: "completed", replies: [says("thought of one"), says("acted")] }]),
    );
    await vi.waitFor(async () => expect((await harness.pending("s")).undelivered).toEqual([]));
    expect(await all.store.runs.list()).toEqual([]);
  });

  it("is gone on with by recover, and its end is kept until a listener comes", async () => {
    const all = storage();
    await dieIn(all, "retry", true);
    const harness = all.worker(() => plan(acts, true), "retry");
    expect(await harness.recover()).toMatchObject({ resumed_count: 1, failed_count: 0 });
    expect(await harness.recover()).toMatchObject({ resumed_count: 0, failed_count: 0 });
    const another = all.worker(() => plan(acts), "retry");
    const heard = listen(another);
    await vi.waitFor(() => expect(heard).toMatchObject([{ outcome: "completed" }]));
    expect(await historyOf(all.store, "s")).toEqual(["one", "thought of one", "acted"]);
  });

  it("is not counted by recover while the session is still that of its process", async () => {
    const all = storage();
    await dieIn(all, "retry", true);
    const harness = all.worker(() => plan(acts, true), "retry");
    const lease = await all.store.leases.acquire("session:s", { ttlMs: 60_000 });
    expect(await harness.recover()).toMatchObject({ resumed_count: 0, failed_count: 0 });
    await lease.release();
    expect(await harness.recover()).toMatchObject({ resumed_count: 1, failed_count: 0 });
  });

  it("ends as ambiguous where a node may have done its work, and the session goes on", async () => {
    const all = storage();
    await dieIn(all, "retry", false);
    let calls = 0;
    const harness = all.worker(
      () =>
        plan((...args) => {
          calls++;
          return acts(...args);
        }),
      "retry",
    );
    const heard = listen(harness);
    await harness.send("s", user("two"));
    expect(calls).toBe(1);
    expect(await historyOf(all.store, "s")).toEqual(["two", "thought of two", "acted"]);
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]).toMatchObject({
      outcome: "errored",
      error_category: "node_ambiguous",
      error_bucket: "user_correctable",
    });
    expect(await all.store.runs.list()).toEqual([]);
  });

  it("is only reported if the policy says so", async () => {
    const all = storage();
    await dieIn(all, "report", true);
    const harness = all.worker(() => plan(acts, true), "report");
    const heard = listen(harness);
    await harness.send("s", user("two"));
    expect(await historyOf(all.store, "s")).toEqual(["two", "thought of two", "acted"]);
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard[0]).toMatchObject({
      outcome: "errored",
      error_category: "turn_interrupted",
      error_bucket: "retryable_transient",
    });
    await vi.waitFor(async () => expect((await harness.pending("s")).undelivered).toEqual([]));
  });

  it("is forgotten by default, as if it had not been sent", async () => {
    const all = storage();
    await dieIn(all, "forget", true);
    const harness = all.worker(() => plan(acts, true), "forget");
    const heard = listen(harness);
    await harness.send("s", user("two"));
    expect(await harness.recover()).toMatchObject({ resumed_count: 0 });
    expect(await historyOf(all.store, "s")).toEqual(["two", "thought of two", "acted"]);
    expect(heard).toEqual([]);
  });

  it("that another version of the graph began is reported, because this one cannot go on with it", async () => {
    const all = storage();
    await dieIn(all, "retry", true);
    const errors: unknown[] = [];
    const harness = all.worker(() => plan(acts, true), "retry", {
      session: { schemaVersion: "2", migrations: [{ from: "", to: "2", migrate: (old) => old }] },
      onError: (error) => errors.push(error),
    });
    const heard = listen(harness);
    await harness.send("s", user("two"));
    await vi.waitFor(() => expect(heard).toMatchObject([{ error_category: "turn_interrupted" }]));
    expect(errors).toMatchObject([{ code: "run_record_invalid" }]);
  });

  it("whose end cannot be stored is recovered again, and no turn of its session begins before", async () => {
    const all = storage();
    await dieIn(all, "retry", true);
    let refusals = 1;
    const commit: GraphStore["commit"] = async (batch) => {
      if (batch.run?.kind !== "end" || refusals-- <= 0) return all.store.commit(batch);
      throw new StoreError("store_failed", "the end is refused");
    };
    const harness = all.worker(() => plan(acts, true), "retry", { store: { ...all.store, commit } });
    const heard = listen(harness);
    expect(await harness.send("s", user("two"))).toMatchObject({
      outcome: "errored",
      error_category: "session_save_failed",
    });
    await harness.send("s", user("three"));
    const history = ["one", "thought of one", "acted", "three", "thought of three", "acted"];
    expect(await historyOf(all.store, "s")).toEqual(history);
    await vi.waitFor(() => expect(heard).toMatchObject([{ outcome: "completed" }]));
  });

  it("whose end no storage takes is reported, and the session goes on", async () => {
    const all = storage();
    await dieIn(all, "retry", true);
    let refusals = 1;
    const commit: GraphStore["commit"] = async (batch) => {
      if (batch.session === undefined || refusals-- <= 0) return all.store.commit(batch);
      throw new StoreError("store_full", "the session is too large");
    };
    const harness = all.worker(() => plan(acts, true), "retry", { store: { ...all.store, commit } });
    const heard = listen(harness);
    await harness.send("s", user("two"));
    expect(await historyOf(all.store, "s")).toEqual(["two", "thought of two", "acted"]);
    await vi.waitFor(() => expect(heard).toMatchObject([{ error_category: "turn_interrupted" }]));
    expect(await all.store.runs.list()).toEqual([]);
  });

  it("that its caller cancelled is not retried", async () => {
    const all = storage();
    const abort = new AbortController();
    const harness = all.worker(
      () =>
        plan(
          (_, { signal }) =>
            new Promise((__, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason));
              abort.abort();
            }),
        ),
      "retry",
    );
    const turn = harness.send("s", user("one"), { signal: abort.signal });
    await expect(turn).rejects.toMatchObject({ code: "turn_cancelled" });
    expect(await all.store.runs.list()).toEqual([]);
    expect(await historyOf(all.store, "s")).toEqual([]);
  });

  it("and that runs in another process is not touched", async () => {
    const all = storage();
    const other = all.worker(() => plan(acts), "retry");
    let recovered: unknown;
    const harness = all.worker(
      () =>
        plan(async (...args) => {
          recovered = await other.recover();
          return acts(...args);
        }),
      "retry",
    );
    await harness.send("s", user("one"));
    expect(recovered).toMatchObject({ resumed_count: 0, failed_count: 0 });
    expect(await historyOf(all.store, "s")).toEqual(["one", "thought of one", "acted"]);
  });

  it.each([
    ["retry", { outcome: "completed", replies: [says("told"), says("done")] }],
    ["report", { outcome: "errored", error_category: "turn_interrupted" }],
  ] as const)("behind a pause: %s", async (policy, end) => {
    const all = storage();
    const graph = (act: Body) =>
      defineGraph(state)
        .node("wait", (_, { suspend }) => suspend({ signal_id: "go" }))
        .node("tell", () => ({ messages: [says("told")] }))
        .node("act", act, { idempotent: true })
        .edge("wait", "tell")
        .edge("tell", "act")
        .edge("act", END)
        .entry("wait");
    const dying = all.worker(
      (die) =>
        graph(() => {
          die();
        }),
      policy,
    );
    expect((await dying.send("s", user("one"))).outcome).toBe("suspended");
    await dying.signal({ signalId: "go", payload: { approved: true } });
    const told = vi.fn();
    const harness = all.worker(
      () =>
        graph(() => ({ messages: [says("done")] })).use(async (_, next, { nodeName }) => {
          if (nodeName === "tell") told();
          return next();
        }),
      policy,
    );
    const heard = listen(harness);
    expect(await harness.recover()).toMatchObject({ resumed_count: 1, failed_count: 0 });
    await vi.waitFor(() => expect(heard).toMatchObject([end]));
    expect(told).not.toHaveBeenCalled();
    expect((await harness.pending()).suspended).toEqual([]);
    expect(await all.store.runs.list()).toEqual([]);
  });

  it("an unknown policy is refused, and one that needs leases without them", () => {
    for (const options of [
      { interruptedTurns: "all" },
      { interruptedTurns: "retry", session: { concurrency: "optimistic" } },
    ]) {
      expect(() => createChatHarness({ graph: approval(), ...(options as object) })).toThrowError(
        expect.objectContaining({ code: "invalid_argument" }),
      );
    }
  });
});
