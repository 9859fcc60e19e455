import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createMemoryStore, defineGraph, END, type GraphStore } from "../src/index.ts";
import { failure, line, logs, recorder, state } from "./support/graphs.ts";

const fails = (message: string) => () => {
  throw new TypeError(message);
};

/** A graph over `state` that runs these graphs as branches. */
const branching = (branches: Parameters<typeof line>[0], change: { errorPolicy?: "collect" } = {}) =>
  defineGraph(state)
    .parallel("work", {
      branches: Object.fromEntries(
        Object.entries(branches).map(([name, body]) => [name, { graph: line({ [`${name}er`]: body }) }]),
      ),
      ...change,
    })
    .entry("work")
    .edge("work", END);

describe("errors of a run (graph-engine §4)", () => {
  it("of a suspension that is not allowed have the state that the node received", async () => {
    const caught = branching(
      {
        ask: (_, { suspend }) => {
          try {
            suspend({ signal_id: "s" });
          } catch {
            return {};
          }
        },
      },
      { errorPolicy: "collect" },
    ).compile();
    const collected = await failure(caught.invoke());
    expect([collected.code, collected.node_name, collected.recoverable_state]).toEqual([
      "suspension_in_unsupported_context",
      "asker",
      { log: [], count: 0, approved: null },
    ]);
    let late: unknown;
    const told = line({
      first: () => ({ count: 3 }),
      ask: async (_, { suspend }) => {
        setImmediate(() => {
          try {
            suspend({ signal_id: "s" });
          } catch (error) {
            late = error;
          }
        });
      },
    });
    await told.invoke();
    await nextTurn();
    expect(late).toMatchObject({
      code: "suspension_in_unsupported_context",
      recoverable_state: { count: 3 },
    });
  });

  it("have the id of the invocation, wherever they come from", async () => {
    const broken: GraphStore = {
      ...createMemoryStore(),
      sessions: { ...createMemoryStore().sessions, load: () => Promise.reject(new TypeError("disk")) },
    };
    const store = createMemoryStore();
    const graph = line({ ask: (_, { suspend }) => suspend({ signal_id: "s" }), act: fails("no") }, { store });
    await graph.invoke({ invocationId: "paused" });
    const errors = [
      await failure(line({ a: fails("no") }).invoke({ invocationId: "i1" })),
      await failure(line({ a: logs("a") }, { store: broken }).invoke({ invocationId: "i2", sessionId: "s" })),
      await failure(line({ a: logs("a") }).invoke({ invocationId: "i3", initial: { count: "x" as never } })),
      await failure(line({ a: logs("a") }).invoke({ invocationId: "i4", signal: AbortSignal.abort() })),
      await failure(graph.invoke({ resumeInvocation: "gone", signalPayload: {} })),
      await failure(graph.invoke({ resumeInvocation: "paused", signalPayload: {} })),
    ];
    expect(errors.map((error) => [error.code, error.invocation_id])).toEqual([
      ["node_exception", "i1"],
      ["session_load_failed", "i2"],
      ["state_validation_error", "i3"],
      ["invocation_cancelled", "i4"],
      ["suspension_record_invalid", "gone"],
      ["node_exception", "paused"],
    ]);
    const told = recorder();
    const minted = line({ a: fails("no") });
    const error = await failure(minted.invoke({ observers: [told.observe] }));
    await minted.drain();
    expect(error.invocation_id).toBe(told.events[0]?.invocation_id);
  });
});
