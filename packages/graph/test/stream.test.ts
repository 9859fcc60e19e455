import { createDeferred, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createMemoryStore, defineGraph, END, type NodeEvent } from "../src/index.ts";
import { failure, line, logs, recorder, state } from "./support/graphs.ts";

const lineOf = ({ phase, namespace }: NodeEvent) => `${phase} ${namespace.join("/")}`;

const collect = async (events: AsyncIterable<NodeEvent>): Promise<NodeEvent[]> => {
  const all: NodeEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};

describe("stream", () => {
  const branching = () =>
    defineGraph(state)
      .node("first", logs("first"))
      .subgraph("sub", { graph: line({ in: logs("in") }) })
      .parallel("both", {
        branches: { a: { graph: line({ a: logs("a") }) }, b: { graph: line({ b: logs("b") }) } },
      })
      .entry("first")
      .edge("first", "sub")
      .edge("sub", "both")
      .edge("both", END)
      .compile();

  it("gives the events that observers get, in their order, and then the outcome", async () => {
    const told = recorder();
    const graph = branching();
    const stream = graph.stream({ observers: [told.observe], invocationId: "i" });
    const events = await collect(stream);
    await graph.drain();
    expect(events).toEqual(told.events);
    expect(events.map(lineOf)).toContain("started sub/in");
    const outcome = await stream.outcome;
    expect(outcome).toMatchObject({ outcome: "completed", invocation_id: "i" });
    expect(outcome.state.log).toEqual(["first", "in", "a", "b"]);
  });

  it("gives the outcome as what the iteration returns", async () => {
    const stream = line({ a: logs("a") }).stream();
    const results = [await stream.next(), await stream.next(), await stream.next(), await stream.next()];
    expect(
      results.map(({ done, value }) => [done, value && ("phase" in value ? value.phase : value.outcome)]),
    ).toEqual([
      [false, "started"],
      [false, "completed"],
      [true, "completed"],
      [true, undefined],
    ]);
  });

  it("gives an event while its node runs, whatever other observers do", async () => {
    const door = createDeferred<void>();
    const graph = line({ a: () => door.promise });
    const hang = () => new Promise<void>(() => {});
    const stream = graph.stream({ observers: [hang] });
    expect(await stream.next()).toMatchObject({ done: false, value: { phase: "started" } });
    const next = stream.next();
    door.resolve();
    expect(await next).toMatchObject({ value: { phase: "completed" } });
    expect(await stream.next()).toMatchObject({ done: true });
    expect(await graph.drain({ timeoutMs: 0 })).toMatchObject({ timeout_reached: true });
  });

  it("rejects behind the last event of a run that fails, and so does its outcome", async () => {
    const stream = line({
      a: () => {
        throw new TypeError("no");
      },
    }).stream({ invocationId: "i" });
    const events: string[] = [];
    const error = await failure(
      (async () => {
        for await (const event of stream) events.push(lineOf(event));
      })(),
    );
    expect([error.code, error.invocation_id, events]).toEqual([
      "node_exception",
      "i",
      ["started a", "completed a"],
    ]);
    expect(await failure(stream.outcome)).toBe(error);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("rejects for options that invoke refuses, and throws for a limit that cannot be used", async () => {
    const graph = line({ a: logs("a") });
    await expect(collect(graph.stream({ sessionId: "" }))).rejects.toBeInstanceOf(InvalidArgumentError);
    for (const maxBufferedEvents of [0, -1, 1.5, Number.NaN]) {
      expect(() => graph.stream({ maxBufferedEvents })).toThrow(InvalidArgumentError);
    }
  });

  describe("that is left early", () => {
    const waiting = () => {
      const seen: unknown[] = [];
      const graph = line(
        {
          a: async (_, { signal }) => {
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
            seen.push((signal.reason as { code: string }).code);
          },
          b: logs("b"),
        },
        { store: createMemoryStore() },
      );
      return { seen, graph };
    };

    it("cancels the run, and goes on once that has ended", async () => {
      const { seen, graph } = waiting();
      const stream = graph.stream({ sessionId: "s" });
      for await (const event of stream) {
        expect(lineOf(event)).toBe("started a");
        break;
      }
      expect(seen).toEqual(["invocation_cancelled"]);
      expect((await failure(stream.outcome)).code).toBe("invocation_cancelled");
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    });

    it("while an event is waited for ends that wait", async () => {
      const { graph } = waiting();
      await using stream = graph.stream();
      await stream.next();
      const next = stream.next();
      expect(await stream.return()).toEqual({ done: true, value: undefined });
      expect(await next).toEqual({ done: true, value: undefined });
      expect(await stream.return()).toEqual({ done: true, value: undefined });
    });

    it("is not what happens when the signal of the caller is aborted: that rejects", async () => {
      const controller = new AbortController();
      const { graph } = waiting();
      const stream = graph.stream({ signal: controller.signal });
      await stream.next();
      controller.abort("enough");
      const error = await failure(collect(stream));
      expect([error.code, error.cause]).toEqual(["invocation_cancelled", "enough"]);
    });
  });

  it("costs a slow reader its events and no other: the run ends, and observers are told all", async () => {
    const told = recorder();
    const graph = line({ a: logs("a"), b: logs("b"), c: logs("c") });
    const stream = graph.stream({ maxBufferedEvents: 2, invocationId: "i", observers: [told.observe] });
    expect((await stream.outcome).state.log).toEqual(["a", "b", "c"]);
    const events: string[] = [];
    const error = await failure(
      (async () => {
        for await (const event of stream) events.push(lineOf(event));
      })(),
    );
    expect([error.code, error.invocation_id, events]).toEqual([
      "stream_overflow",
      "i",
      ["started a", "completed a"],
    ]);
    await graph.drain();
    expect(told.events).toHaveLength(6);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});
