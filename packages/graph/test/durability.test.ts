import { systemClock } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  append,
  defineGraph,
  defineState,
  END,
  lastWriteWins,
  type Resolution,
  retry,
} from "../src/index.ts";
import { createStorage } from "./support/dying-store.ts";
import { failure, line, logs, recorder } from "./support/graphs.ts";

const durable = (storage: ReturnType<typeof createStorage>, dieAt?: number, isApplied?: boolean) => ({
  store: storage.process(dieAt, isApplied),
  clock: storage.clock,
  durability: "node" as const,
});

/** Nodes that write down when they run. */
const three = (ran: string[]) => {
  const node = (name: string) => () => {
    ran.push(name);
    return { log: [name] };
  };
  return { a: node("a"), b: node("b"), c: node("c") };
};

/** A node that waits for a signal. */
const gate =
  (signalId: string) =>
  (_: unknown, { suspend }: { suspend(descriptor: { signal_id: string }): never }) =>
    suspend({ signal_id: signalId });

describe("durability node", () => {
  it("a run goes on behind the last recorded node, under a new invocation id and with what it had", async () => {
    const storage = createStorage();
    const ran: string[] = [];
    const begun = line(three(ran), { ...durable(storage, 3, true), session: { concurrency: "lease" } });
    // The third write records b and that c begins; c may have run.
    await failure(
      begun.invoke({ invocationId: "r", correlationId: "c1", sessionId: "s", initial: { count: 7 } }),
    );
    expect(ran).toEqual(["a", "b"]);
    const graph = line(three(ran), { ...durable(storage), session: { concurrency: "lease" } });
    const { events, observe } = recorder();
    const resolve = { "2": { kind: "rerun" } as const };
    const outcome = await graph.invoke({ resumeInvocation: "r", resolve, observers: [observe] });
    expect(outcome).toMatchObject({
      outcome: "completed",
      correlation_id: "c1",
      session_id: "s",
      state: { log: ["a", "b", "c"], count: 7 },
    });
    expect(outcome.invocation_id).not.toBe("r");
    expect(ran).toEqual(["a", "b", "c"]);
    await graph.drain();
    expect(events.map(({ node_name, step }) => [node_name, step])).toEqual([
      ["c", 2],
      ["c", 2],
    ]);
    expect((await storage.store.sessions.load("s"))?.state.log).toMatchObject({ length: 3 });
    expect(await storage.store.runs.list()).toEqual([]);
  });

  it("a node that had begun and is not recorded is named as ambiguous, and does not run", async () => {
    const storage = createStorage();
    const ran: string[] = [];
    await failure(line(three(ran), durable(storage, 2, true)).invoke({ invocationId: "r" }));
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await failure(line(three(ran), durable(storage)).invoke({ resumeInvocation: "r" }));
      expect(error.code).toBe("node_ambiguous");
      expect(error.node_name).toBe("b");
      expect(error.data).toEqual({ run_id: "r", places: [{ key: "1", namespace: ["b"] }] });
    }
    expect(ran).toEqual(["a"]);
    const resolve: Record<string, Resolution> = {
      "1": { kind: "done", result: { log: ["b, as its owner says"] } },
    };
    const { state } = await line(three(ran), durable(storage)).invoke({ resumeInvocation: "r", resolve });
    expect(state.log).toEqual(["a", "b, as its owner says", "c"]);
    expect(ran).toEqual(["a", "c"]);
  });

  it("an idempotent node runs again, with the same key", async () => {
    const storage = createStorage();
    const keys: string[] = [];
    const graph = (options: ReturnType<typeof durable>) =>
      defineGraph(defineState({ log: append(z.string()) }))
        .node("a", () => ({ log: ["a"] }), { idempotent: true })
        .node(
          "b",
          (_, { idempotencyKey, isRecovered }) => {
            keys.push(idempotencyKey);
            return { log: [`b ${isRecovered}`] };
          },
          { idempotent: true },
        )
        .edge("a", "b")
        .edge("b", END)
        .entry("a")
        .compile(options);
    // The first write begins the run; the second is its end.
    await failure(graph(durable(storage, 2)).invoke({ invocationId: "r" }));
    const outcome = await graph(durable(storage)).invoke({ resumeInvocation: "r" });
    expect(outcome.state.log).toEqual(["a", "b true"]);
    expect(keys).toEqual(["r:1", "r:1"]);
  });

  it("a recorded effect is not repeated, and one without an end is ambiguous", async () => {
    const storage = createStorage();
    const done: string[] = [];
    const graph = (options: ReturnType<typeof durable>) =>
      defineGraph(defineState({ log: append(z.string()) }))
        .node(
          "pay",
          async (_, { effect }) => {
            const charge = await effect("charge", () => {
              done.push("charge");
              return { id: 7 };
            });
            const mail = await effect("mail", async () => {
              done.push("mail");
              return "sent";
            });
            return { log: [`${charge.id} ${mail}`] };
          },
          { idempotent: true },
        )
        .edge("pay", END)
        .entry("pay")
        .compile(options);
    // Writes: begin, charge begins, charge ends, mail begins, mail ends, end of the run.
    await failure(graph(durable(storage, 4)).invoke({ invocationId: "r" }));
    expect(done).toEqual(["charge"]);
    await failure(graph(durable(storage, 2)).invoke({ resumeInvocation: "r" }));
    expect(done).toEqual(["charge", "mail"]);
    const error = await failure(graph(durable(storage)).invoke({ resumeInvocation: "r" }));
    expect(error.code).toBe("node_ambiguous");
    expect(error.data).toMatchObject({ effect: "mail", places: [{ key: "0!mail", namespace: ["pay"] }] });
    const resolve = { "0!mail": { kind: "done", result: "sent by hand" } as const };
    const outcome = await graph(durable(storage)).invoke({ resumeInvocation: "r", resolve });
    expect(outcome.state.log).toEqual(["7 sent by hand"]);
    expect(done).toEqual(["charge", "mail"]);
  });

  it("an effect that was recorded is not repeated by a retry in the same process", async () => {
    const storage = createStorage();
    let calls = 0;
    let attempts = 0;
    const graph = defineGraph(defineState({ log: append(z.string()) }))
      .node(
        "a",
        async (_, { effect }) => {
          const count = await effect("count", () => ++calls);
          if (++attempts < 3) throw new TypeError("not yet");
          return { log: [String(count)] };
        },
        { idempotent: true, middleware: [retry({ maxAttempts: 3, initialDelayMs: 1 })] },
      )
      .edge("a", END)
      .entry("a")
      .compile({ ...durable(storage), clock: systemClock });
    expect((await graph.invoke()).state.log).toEqual(["1"]);
    expect(attempts).toBe(3);
  });

  it("a process that lost its lease records nothing and ends", async () => {
    const storage = createStorage();
    const ran: string[] = [];
    const nodes = three(ran);
    const graph = line(
      {
        ...nodes,
        a: () => {
          storage.clock.advance(120_000);
          return nodes.a();
        },
      },
      durable(storage),
    );
    const error = await failure(graph.invoke({ invocationId: "r" }));
    expect(error.code).toBe("session_write_conflict");
    expect(ran).toEqual(["a"]);
    expect((await storage.store.runs.load("r"))?.entries).toHaveLength(1);
  });

  it("a run that runs cannot be recovered, nor one that has ended or never was", async () => {
    const storage = createStorage();
    const graph = line(
      {
        a: async () => {
          const error = await failure(graph.invoke({ resumeInvocation: "r" }));
          return { log: [`${error.code} ${error.data.reason}`] };
        },
      },
      durable(storage),
    );
    const { state } = await graph.invoke({ invocationId: "r" });
    expect(state.log).toEqual(["run_record_invalid running"]);
    for (const id of ["r", "unknown"]) {
      const error = await failure(graph.invoke({ resumeInvocation: id }));
      expect([error.code, error.data.reason]).toEqual(["run_record_invalid", "unknown"]);
    }
  });

  it("a run of another schema, or of another graph, is refused", async () => {
    const storage = createStorage();
    const ran: string[] = [];
    await failure(line(three(ran), durable(storage, 2, true)).invoke({ invocationId: "r" }));
    const newer = line(three(ran), { ...durable(storage), session: { schemaVersion: "2" } });
    const schema = await failure(newer.invoke({ resumeInvocation: "r" }));
    expect([schema.code, schema.data.reason]).toEqual(["run_record_invalid", "schema_changed"]);
    const { b, c } = three(ran);
    const resolve = { "1": { kind: "rerun" } as const };
    const other = line({ x: logs("x"), b, c }, durable(storage));
    const changed = await failure(other.invoke({ resumeInvocation: "r", resolve }));
    expect([changed.code, changed.data.reason]).toEqual(["run_record_invalid", "graph_changed"]);
  });

  it("a run that failed has ended, and one that was cancelled is kept unless the caller says so", async () => {
    const storage = createStorage();
    const failing = line({ a: () => Promise.reject(new TypeError("no")) }, durable(storage));
    await failure(failing.invoke());
    expect(await storage.store.runs.list()).toEqual([]);
    for (const unfinished of ["keep", "end"] as const) {
      const abort = new AbortController();
      const graph = line({ a: () => abort.abort(), b: logs("b") }, durable(storage));
      const error = await failure(
        graph.invoke({ invocationId: unfinished, signal: abort.signal, unfinished }),
      );
      expect(error.code).toBe("invocation_cancelled");
    }
    expect((await storage.store.runs.list()).map((run) => run.run_id)).toEqual(["keep"]);
    const outcome = await line({ a: () => {}, b: logs("b") }, durable(storage)).invoke({
      resumeInvocation: "keep",
    });
    expect(outcome.state).toMatchObject({ log: ["b"] });
  });

  it("an ambiguous run that is to end ends, and says so by its result", async () => {
    const storage = createStorage();
    await failure(line(three([]), durable(storage, 2, true)).invoke({ invocationId: "r", sessionId: "s" }));
    const error = await failure(
      line(three([]), durable(storage)).invoke({
        resumeInvocation: "r",
        unfinished: "end",
        settle: (end) => ({ ended: end.outcome }),
      }),
    );
    expect(error.code).toBe("node_ambiguous");
    expect(await storage.store.runs.list()).toEqual([]);
    const [kept] = await storage.store.suspensions.list({ isDelivered: false });
    expect(kept).toMatchObject({ status: "errored", session_id: "s", result: { ended: "errored" } });
  });

  it("a pause ends the recording, and a resumed run that died goes on with the payload that it had", async () => {
    const storage = createStorage();
    const ran: string[] = [];
    const nodes = {
      ...three(ran),
      gate: gate("go"),
    };
    const order = { a: nodes.a, gate: nodes.gate, b: nodes.b, c: nodes.c };
    const paused = await line(order, durable(storage)).invoke({ invocationId: "r", sessionId: "s" });
    expect(paused.outcome).toBe("suspended");
    expect(await storage.store.runs.list()).toEqual([]);
    const signalPayload = { approved: true };
    // Writes: b begins; b is recorded and c begins.
    await failure(line(order, durable(storage, 2, true)).invoke({ resumeInvocation: "r", signalPayload }));
    const graph = line(order, durable(storage));
    const other = await failure(graph.invoke({ resumeInvocation: "r", signalPayload: { approved: false } }));
    expect([other.code, other.data.reason]).toEqual(["run_record_invalid", "other_payload"]);
    const resolve = { "2": { kind: "rerun" } as const };
    const outcome = await graph.invoke({ resumeInvocation: "r", resolve });
    expect(outcome).toMatchObject({ invocation_id: "r", state: { approved: true, log: ["a", "b", "c"] } });
    expect(ran).toEqual(["a", "b", "c"]);
    expect(await storage.store.runs.list()).toEqual([]);
    expect((await storage.store.suspensions.load("r"))?.status).toBe("completed");
  });

  it.each([
    ["store_failed", "run_persistence_failed"],
    ["lease_lost", "session_write_conflict"],
  ] as const)(
    "a resumed run whose progress is refused with %s waits on, and can be resumed again",
    async (code, category) => {
      const storage = createStorage();
      const ran: string[] = [];
      const order = { gate: gate("go"), ...three(ran) };
      await line(order, durable(storage)).invoke({ invocationId: "r", sessionId: "s" });
      const resume = { resumeInvocation: "r", signalPayload: {}, settle: () => "ended" };
      const refusing = line(order, { ...durable(storage), store: storage.refusing(code) });
      expect((await failure(refusing.invoke(resume))).code).toBe(category);
      expect(ran).toEqual([]);
      expect((await storage.store.suspensions.load("r"))?.status).toBe("suspended");
      expect((await line(order, durable(storage)).invoke(resume)).state.log).toEqual(["a", "b", "c"]);
      expect((await storage.store.suspensions.load("r"))?.status).toBe("completed");
    },
  );

  it("a resumed run whose progress no storage takes has failed", async () => {
    const storage = createStorage();
    const order = { gate: gate("go"), ...three([]) };
    await line(order, durable(storage)).invoke({ invocationId: "r", sessionId: "s" });
    const refusing = line(order, { ...durable(storage), store: storage.refusing("store_full") });
    const error = await failure(refusing.invoke({ resumeInvocation: "r", signalPayload: {} }));
    expect(error.code).toBe("run_persistence_failed");
    expect((await storage.store.suspensions.load("r"))?.status).toBe("errored");
    expect(await storage.store.runs.list()).toEqual([]);
  });

  it("what was said since the crash stays, in its order, unless the run has saved its session", async () => {
    const storage = createStorage();
    const talk = (options: ReturnType<typeof durable>, isSaving: boolean) =>
      line(
        {
          a: async (_, { saveSession }) => {
            if (isSaving) await saveSession({ log: ["a"] });
            return { log: ["a"] };
          },
          b: logs("b"),
        },
        options,
      );
    const say = { sessionId: "s", initial: { log: ["hello"] } };
    await failure(talk(durable(storage, 2, true), false).invoke({ ...say, invocationId: "r1" }));
    await talk(durable(storage), false).invoke({ sessionId: "s", initial: { log: ["meanwhile"] } });
    const resolve = { "1": { kind: "rerun" } as const };
    const { state } = await talk(durable(storage), false).invoke({ resumeInvocation: "r1", resolve });
    expect([...state.log]).toEqual(["meanwhile", "a", "b", "hello", "a", "b"]);

    await failure(talk(durable(storage, 3, true), true).invoke({ ...say, invocationId: "r2" }));
    const alone = await talk(durable(storage), true).invoke({ resumeInvocation: "r2", resolve });
    expect(alone.state.log.slice(6)).toEqual(["hello", "a", "b"]);

    await failure(talk(durable(storage, 3, true), true).invoke({ ...say, invocationId: "r3" }));
    await talk(durable(storage), false).invoke({ sessionId: "s", initial: { log: ["meanwhile"] } });
    const error = await failure(talk(durable(storage), true).invoke({ resumeInvocation: "r3", resolve }));
    expect(error.code).toBe("session_write_conflict");
  });

  it("an update that is not JSON fails the run, and names its field", async () => {
    const storage = createStorage();
    const state = defineState({ at: lastWriteWins(z.any(), { default: null }) });
    const graph = defineGraph(state)
      .node("a", () => ({ at: 1n }))
      .edge("a", END)
      .entry("a")
      .compile(durable(storage));
    const error = await failure(graph.invoke());
    expect(error.code).toBe("run_persistence_failed");
    expect(error.message).toContain("at");
  });

  it("an error that was collected is collected again, and its node does not run", async () => {
    const storage = createStorage();
    const ran: number[] = [];
    const item = defineState({
      n: lastWriteWins(z.number(), { default: 0 }),
      out: lastWriteWins(z.number(), { default: 0 }),
    });
    const inner = defineGraph(item)
      .node("work", ({ n }) => {
        ran.push(n);
        if (n === 2) throw Object.assign(new TypeError("two"), { category: "even" });
        return { out: n * 10 };
      })
      .edge("work", END)
      .entry("work")
      .compile();
    const state = defineState({
      items: lastWriteWins(z.array(z.number()), { default: [1, 2, 3] }),
      results: lastWriteWins(z.array(z.number()), { default: [] }),
      errors: lastWriteWins(z.array(z.any()), { default: [] }),
    });
    const graph = (options: ReturnType<typeof durable>) =>
      defineGraph(state)
        .fanOut("all", {
          graph: inner,
          itemsField: "items",
          itemField: "n",
          collectField: "out",
          targetField: "results",
          errorsField: "errors",
          errorPolicy: "collect",
          concurrency: 1,
        })
        .node("last", () => {})
        .edge("all", "last")
        .edge("last", END)
        .entry("all")
        .compile(options);
    // Writes: 1 begins; 1 ends, 2 begins; 2 fails, 3 begins.
    await failure(graph(durable(storage, 3, true)).invoke({ invocationId: "r" }));
    expect(ran).toEqual([1, 2]);
    const resolve = { "0/0:2.0": { kind: "rerun" } as const };
    const { state: final } = await graph(durable(storage)).invoke({ resumeInvocation: "r", resolve });
    expect(ran).toEqual([1, 2, 3]);
    expect(final.results).toEqual([10, 30]);
    expect(final.errors).toMatchObject([{ key: 1, category: "even" }]);
  });

  it("needs a store, and refuses an unknown setting", () => {
    for (const options of [{ durability: "node" }, { durability: "all" }]) {
      expect(() => line({ a: logs("a") }, options as never)).toThrowError(
        expect.objectContaining({ code: "invalid_argument" }),
      );
    }
  });
});
