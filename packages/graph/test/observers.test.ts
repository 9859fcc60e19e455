import { createDeferred, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { defineGraph, END, type GraphErrorContext, type Middleware, type NodeEvent } from "../src/index.ts";
import { failure, line, logs, recorder, state, type TestFields } from "./support/graphs.ts";

describe("observers (graph-engine §6)", () => {
  it("are told of each node before and behind it, with the states", async () => {
    const told = recorder();
    const graph = line({ a: logs("a"), b: () => ({ count: 2 }) });
    await graph.invoke({ observers: [told.observe], invocationId: "i", correlationId: "c" });
    await graph.drain();
    const common = {
      invocation_id: "i",
      correlation_id: "c",
      parent_states: [],
      attempt_index: 0,
      fan_out_index_chain: [],
      branch_name_chain: [],
    };
    const before = { log: [], count: 0, approved: null };
    const between = { ...before, log: ["a"] };
    expect(told.events).toEqual([
      { ...common, phase: "started", node_name: "a", namespace: ["a"], step: 0, pre_state: before },
      {
        ...common,
        phase: "completed",
        node_name: "a",
        namespace: ["a"],
        step: 0,
        pre_state: before,
        post_state: between,
      },
      { ...common, phase: "started", node_name: "b", namespace: ["b"], step: 1, pre_state: between },
      {
        ...common,
        phase: "completed",
        node_name: "b",
        namespace: ["b"],
        step: 1,
        pre_state: between,
        post_state: { ...between, count: 2 },
      },
    ]);
  });

  it("are told one after the other, and nobody waits for them", async () => {
    const gate = createDeferred<void>();
    let running = 0;
    const seen: string[] = [];
    const graph = line({ a: logs("a"), b: logs("b") });
    const observe = async (event: NodeEvent) => {
      expect(running++).toBe(0);
      await gate.promise;
      seen.push(`${event.phase} ${event.node_name}`);
      running--;
    };
    const { state: final } = await graph.invoke({ observers: [observe, observe] });
    expect([final.log, seen]).toEqual([["a", "b"], []]);
    expect(await graph.drain({ timeoutMs: 1 })).toEqual({ undelivered_count: 4, timeout_reached: true });
    gate.resolve();
    const again = graph.invoke({ observers: [observe] });
    await again;
    expect(await graph.drain()).toEqual({ undelivered_count: 0, timeout_reached: false });
    expect(seen.slice(-4)).toEqual(["started a", "completed a", "started b", "completed b"]);
  });

  it("are told outermost first, then those of the invocation, as they were when it began", async () => {
    const order: string[] = [];
    const told = (name: string) => (event: NodeEvent) => {
      order.push(`${name} ${event.phase} ${event.node_name}`);
    };
    const inner = line({ in: logs("in") });
    const graph = defineGraph(state)
      .subgraph("sub", { graph: inner })
      .entry("sub")
      .edge("sub", END)
      .compile();
    inner.attach(told("inner"));
    graph.attach(told("outer 1"));
    const detach = graph.attach(told("outer 2"));
    const first = graph.invoke({ observers: [told("call 1"), told("call 2")] });
    detach();
    graph.attach(told("outer 3"));
    await first;
    await graph.drain();
    const names = ["outer 1", "outer 2", "inner", "call 1", "call 2"];
    expect(order).toEqual(
      ["started", "completed"].flatMap((phase) => names.map((name) => `${name} ${phase} in`)),
    );
    order.length = 0;
    await graph.invoke();
    await graph.drain();
    expect(order.slice(0, 3)).toEqual(["outer 1 started in", "outer 3 started in", "inner started in"]);
  });

  it("may throw: onError receives it, and the others are called", async () => {
    const errors: unknown[] = [];
    const told = recorder();
    const cause = new TypeError("broken");
    const onError = (error: unknown, { kind }: GraphErrorContext) => {
      errors.push({ error, kind });
      throw cause;
    };
    const graph = line({ a: logs("a") }, { onError });
    const broken = () => {
      throw cause;
    };
    await graph.invoke({ observers: [broken, () => Promise.reject(cause), told.observe] });
    await graph.drain();
    expect(told.lines).toEqual(["started a", "completed a"]);
    expect(errors).toHaveLength(4);
    expect(errors[0]).toMatchObject({ kind: "observer_failed", error: cause });
  });

  it("are told of the phases that they want", async () => {
    const all = recorder();
    const some = recorder();
    const graph = line({ a: (_, { suspend }) => suspend({ signal_id: "s" }) });
    graph.attach(some.observe, { phases: ["started"] });
    await graph.invoke({ observers: [all.observe, { observe: some.observe, phases: ["suspended"] }] });
    await graph.drain();
    expect(all.lines).toEqual(["started a", "suspended a"]);
    expect(some.lines).toEqual(["started a", "suspended a"]);
    expect(all.events[1]).toMatchObject({ descriptor: { signal_id: "s" }, step: 0 });
    for (const phases of [[], ["ended" as never]]) {
      expect(() => graph.attach(all.observe, { phases })).toThrow(InvalidArgumentError);
    }
    await expect(graph.invoke({ observers: [{ observe: all.observe, phases: [] }] })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });

  it("are given up when the time of a drain is over, and the graph goes on", async () => {
    const hang = createDeferred<void>();
    const graph = line({ a: logs("a") });
    await graph.invoke({ observers: [() => hang.promise], invocationId: "i" });
    expect(await graph.drainEventsFor("i", { timeoutMs: 1 })).toEqual({
      undelivered_count: 2,
      timeout_reached: true,
    });
    expect(await graph.drainEventsFor("unknown")).toEqual({ undelivered_count: 0, timeout_reached: false });
    for (const timeoutMs of [-1, Number.NaN]) {
      await expect(graph.drain({ timeoutMs })).rejects.toMatchObject({ code: "invalid_argument" });
      await expect(graph.drainEventsFor("i", { timeoutMs })).rejects.toMatchObject({
        code: "invalid_argument",
      });
    }
    expect(await graph.drain({ timeoutMs: 0 })).toEqual({ undelivered_count: 2, timeout_reached: true });
    expect(await graph.drain()).toEqual({ undelivered_count: 0, timeout_reached: false });
    const told = recorder();
    await graph.invoke({ observers: [told.observe] });
    expect(await graph.drain()).toEqual({ undelivered_count: 0, timeout_reached: false });
    expect(told.lines).toHaveLength(2);
  });

  it("wait for the events of one invocation only", async () => {
    const gate = createDeferred<void>();
    const told = recorder();
    const graph = line({ a: logs("a"), wait: () => gate.promise });
    const running = graph.invoke({ observers: [told.observe], invocationId: "i" });
    await expect.poll(() => told.lines.length).toBe(3);
    expect(await graph.drainEventsFor("i")).toEqual({ undelivered_count: 0, timeout_reached: false });
    expect(told.lines).toEqual(["started a", "completed a", "started wait"]);
    gate.resolve();
    await running;
  });

  it("cannot fill the memory: events beyond the limit are dropped and counted", async () => {
    const hang = createDeferred<void>();
    const kinds: string[] = [];
    const graph = line(
      { a: logs("a"), b: logs("b") },
      { limits: { maxQueuedEvents: 2 }, onError: (_, { kind }) => kinds.push(kind) },
    );
    await graph.invoke({ observers: [() => hang.promise] });
    expect(kinds).toEqual(["observer_queue_full"]);
    expect(await graph.drain({ timeoutMs: 1 })).toEqual({ undelivered_count: 4, timeout_reached: true });
  });
});

describe("middleware (pipeline-utilities §2)", () => {
  type Layer = Middleware<TestFields>;
  const trace =
    (log: string[], name: string): Layer =>
    async (current, next) => {
      log.push(`${name} in`);
      const update = await next(current);
      log.push(`${name} out`);
      return update;
    };

  it("of the graph is around that of the node, each list outermost first", async () => {
    const log: string[] = [];
    const inner = line({ in: () => void log.push("in") });
    const graph = defineGraph(state)
      .use(trace(log, "g1"), trace(log, "g2"))
      .node("a", () => void log.push("a"), { middleware: [trace(log, "n1"), trace(log, "n2")] })
      .subgraph("sub", { graph: inner })
      .entry("a")
      .edge("a", "sub")
      .edge("sub", END)
      .compile();
    await graph.invoke();
    expect(log.slice(0, 9)).toEqual([
      "g1 in",
      "g2 in",
      "n1 in",
      "n2 in",
      "a",
      "n2 out",
      "n1 out",
      "g2 out",
      "g1 out",
    ]);
    expect(log.slice(9)).toEqual(["g1 in", "g2 in", "in", "g2 out", "g1 out"]);
  });

  it("may leave the node out, which is told to nobody", async () => {
    const told = recorder();
    const graph = defineGraph(state)
      .node("a", logs("a"), { middleware: [async () => ({ log: ["cached"] })] })
      .entry("a")
      .edge("a", END)
      .compile();
    const { state: final } = await graph.invoke({ observers: [told.observe] });
    await graph.drain();
    expect([final.log, told.events]).toEqual([["cached"], []]);
  });

  it("may pass on another state, but the update is merged into the first", async () => {
    const change: Layer = async (current, next) => {
      const update = await next({ ...current, count: 40 });
      return { ...update, log: ["changed"] };
    };
    const graph = defineGraph(state)
      .node("a", ({ count }) => ({ count: count + 2, log: ["a"] }), { middleware: [change] })
      .node("b", ({ count }) => ({ log: [`b ${count}`] }), {
        middleware: [(current, next) => next({ ...current, count: 7 })],
      })
      .entry("a")
      .edge("a", "b")
      .edge("b", END)
      .compile();
    const { state: final } = await graph.invoke({ initial: { count: 1 } });
    expect(final).toEqual({ count: 42, log: ["changed", "b 7"], approved: null });
  });

  it("that throws fails the node, whose attempt is told with that error", async () => {
    const told = recorder();
    const cause = new TypeError("after");
    const layer: Layer = async (current, next) => {
      await next(current);
      throw cause;
    };
    const graph = defineGraph(state)
      .node("a", logs("a"), { middleware: [layer] })
      .entry("a")
      .edge("a", END)
      .compile();
    const error = await failure(graph.invoke({ observers: [told.observe] }));
    await graph.drain();
    expect(error).toMatchObject({ code: "node_exception", cause, node_name: "a" });
    expect(told.events.map((event) => [event.phase, event.error?.instance])).toEqual([
      ["started", undefined],
      ["completed", error],
    ]);
  });

  it("that recovers with an update that cannot be merged fails the node with that error", async () => {
    const told = recorder();
    const graph = defineGraph(state)
      .node("a", () => Promise.reject(new TypeError("broken")), {
        middleware: [async (current, next) => next(current).catch(() => ({ count: "x" }) as never)],
      })
      .entry("a")
      .edge("a", END)
      .compile();
    const error = await failure(graph.invoke({ observers: [told.observe] }));
    await graph.drain();
    expect(told.events.at(-1)?.error).toEqual({ category: "state_validation_error", instance: error });
  });
});
