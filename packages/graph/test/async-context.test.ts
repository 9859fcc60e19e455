import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { defineGraph, END, type Middleware } from "../src/index.ts";
import { currentInvocation, suspend } from "../src/node/index.ts";
import { failure, line, logs, recorder, state, type TestFields } from "./support/graphs.ts";

const deep = async (): Promise<string | undefined> => {
  await nextTurn();
  return currentInvocation()?.invocationId;
};

describe("the asynchronous context (graph-engine §2.6)", () => {
  it("tells the ids in nodes, edges, middleware and observers, and nowhere else", async () => {
    const seen: unknown[] = [];
    const layer: Middleware<TestFields> = async (current, next) => {
      seen.push(["middleware", await deep()]);
      return next(current);
    };
    const graph = defineGraph(state)
      .use(layer)
      .node("a", async (_, { invocationId }) => {
        seen.push(["node", await deep()]);
        expect(currentInvocation()).toMatchObject({
          invocationId,
          correlationId: `c-${invocationId}`,
          sessionId: `s-${invocationId}`,
        });
      })
      .entry("a")
      .conditionalEdge("a", () => {
        seen.push(["edge", currentInvocation()?.invocationId]);
        return END;
      })
      .compile();
    const observe = async () => void seen.push(["observer", await deep()]);
    const run = (id: string) =>
      graph.invoke({
        invocationId: id,
        correlationId: `c-${id}`,
        sessionId: `s-${id}`,
        observers: [observe],
      });
    await Promise.all([run("1"), run("2"), run("3")]);
    await graph.drain();
    for (const kind of ["middleware", "node", "edge"]) {
      expect(
        seen
          .filter((entry) => (entry as string[])[0] === kind)
          .map((entry) => (entry as string[])[1])
          .sort(),
      ).toEqual(["1", "2", "3"]);
    }
    expect(seen.filter((entry) => (entry as string[])[0] === "observer")).toHaveLength(6);
    expect(currentInvocation()).toBeUndefined();
    expect(await deep()).toBeUndefined();
  });

  it("suspends from any depth of the body", async () => {
    const ask = async (): Promise<never> => {
      await nextTurn();
      return suspend({ signal_id: "s" }, { markNodeCompleted: true });
    };
    const graph = line({ a: async () => ask(), b: logs("b") });
    const paused = await graph.invoke();
    expect(paused).toMatchObject({ outcome: "suspended", node_name: "a", descriptor: { signal_id: "s" } });
    const resumed = await graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: {} });
    expect(resumed.state.log).toEqual(["b"]);
  });

  it("refuses to suspend outside of a body, also when that is caught", async () => {
    const refused = expect.objectContaining({ code: "suspension_in_unsupported_context" });
    expect(() => suspend({ signal_id: "s" })).toThrow(refused);
    const layers: Middleware<TestFields>[] = [
      async () => suspend({ signal_id: "s" }),
      async (current, next) => {
        const update = await next(current);
        await deep();
        suspend({ signal_id: "s" });
        return update;
      },
      async (current, next) => {
        try {
          suspend({ signal_id: "s" });
        } catch {
          return next(current).catch(() => ({ log: ["swallowed"] }));
        }
      },
    ];
    for (const layer of layers) {
      const graph = defineGraph(state)
        .node("a", logs("a"), { middleware: [layer] })
        .entry("a")
        .edge("a", END)
        .compile();
      expect(await failure(graph.invoke())).toMatchObject({
        code: "suspension_in_unsupported_context",
        node_name: "a",
      });
    }
    const told = recorder();
    const observed = line({ a: logs("a") });
    let thrown = 0;
    const observe = () => {
      expect(() => suspend({ signal_id: "s" })).toThrow(refused);
      thrown++;
    };
    expect((await observed.invoke({ observers: [observe, told.observe] })).outcome).toBe("completed");
    await observed.drain();
    expect([thrown, told.lines]).toEqual([2, ["started a", "completed a"]]);
    const edge = defineGraph(state)
      .node("a", logs("a"))
      .entry("a")
      .conditionalEdge("a", () => suspend({ signal_id: "s" }))
      .compile();
    expect(await failure(edge.invoke())).toMatchObject({ code: "edge_exception", cause: refused });
  });

  it("is not mixed up by an invocation in a node", async () => {
    const inner = line({ in: async () => ({ log: [`${await deep()}`] }) });
    const outer = line({
      out: async () => {
        const { state: final } = await inner.invoke({ invocationId: "inner" });
        return { log: [...final.log, `${await deep()}`] };
      },
    });
    expect((await outer.invoke({ invocationId: "outer" })).state.log).toEqual(["inner", "outer"]);
  });
});
