import { InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { GraphWarning } from "../src/compile-options.ts";
import {
  append,
  boundedAppend,
  concatFlatten,
  defineGraph,
  defineState,
  END,
  GraphCompileError,
  lastWriteWins,
  mergeAll,
  mergeByKey,
} from "../src/index.ts";
import { line, logs, state } from "./support/graphs.ts";

const compileError = (compile: () => unknown): GraphCompileError => {
  try {
    compile();
  } catch (error) {
    expect(error).toBeInstanceOf(GraphCompileError);
    return error as GraphCompileError;
  }
  return expect.fail("it compiled");
};

const start = () =>
  defineGraph(state)
    .node("a", () => {})
    .node("b", () => {});
const none = "nowhere" as never;
const sub = line({ inner: logs("inner") });

const fanOut = (change: object) =>
  start().fanOut("f", {
    ...{ graph: sub, itemsField: "log", itemField: "count", collectField: "count", targetField: "log" },
    ...change,
  });
const subgraph = (projection: object) => start().subgraph("s", { graph: sub, ...projection });
const stateOf = (...parts: object[]) => defineGraph(defineState(...(parts as [never, never])));
const item = z.number();

describe("what does not compile (graph-engine §2.3)", () => {
  const nowhere = "mapping_references_undeclared_field";
  const wrong: [code: string, what: string, make: () => { compile(): unknown }][] = [
    ["no_declared_entry", "no entry", () => start().edge("a", "b").edge("b", END)],
    [
      "no_declared_entry",
      "an entry that is no node",
      () => start().edge("a", END).edge("b", END).entry(none),
    ],
    ["no_declared_entry", "nothing at all", () => defineGraph(state)],
    [
      "unreachable_node",
      "a node without a way to it",
      () => start().entry("a").edge("a", END).edge("b", "a"),
    ],
    ["unreachable_node", "a node without an edge, too", () => start().entry("a").edge("a", END)],
    ["dangling_edge", "an edge from nowhere", () => start().entry("a").edge("a", "b").edge(none, "a")],
    ["dangling_edge", "an edge to nowhere", () => start().entry("a").edge("a", none).edge("b", END)],
    [
      "dangling_edge",
      "an edge to no name",
      () =>
        start()
          .entry("a")
          .edge("a", 7 as never)
          .edge("b", END),
    ],
    [
      "multiple_outgoing_edges",
      "two edges of a node",
      () => start().entry("a").edge("a", "b").edge("a", END),
    ],
    [
      "multiple_outgoing_edges",
      "an edge beside a conditional one",
      () =>
        start()
          .entry("a")
          .edge("a", "b")
          .conditionalEdge("a", () => END),
    ],
    ["missing_outgoing_edge", "a node without an edge", () => start().entry("a").edge("a", "b")],
    [
      "duplicate_node",
      "two nodes of one name",
      () =>
        start()
          .node("a", () => {})
          .entry("a"),
    ],
    [nowhere, "an input from nowhere", () => subgraph({ inputs: { count: none } })],
    [nowhere, "an input to nowhere", () => subgraph({ inputs: { [none]: "count" } })],
    [nowhere, "an output from nowhere", () => subgraph({ outputs: { count: none } })],
    [nowhere, "an output to nowhere", () => subgraph({ outputs: { [none]: "count" } })],
    [nowhere, "a declared field of nobody", () => subgraph({ projectsIn: [none] })],
    [nowhere, "items from nowhere", () => fanOut({ itemsField: none })],
    [nowhere, "results from nowhere", () => fanOut({ collectField: none })],
    [nowhere, "errors to nowhere", () => fanOut({ errorsField: none })],
    [
      nowhere,
      "a branch to nowhere",
      () => start().parallel("p", { branches: { one: { graph: sub, outputs: { [none]: "count" } } } }),
    ],
    [
      nowhere,
      "a session of nothing",
      () => ({ compile: () => line({ a: logs("a") }, { session: { fields: [none] } }) }),
    ],
    [
      "conflicting_projection_forms",
      "inputs beside projectsOut",
      () => subgraph({ inputs: {}, projectsOut: [] }),
    ],
    [
      "conflicting_projection_forms",
      "outputs beside projectsIn",
      () => subgraph({ outputs: {}, projectsIn: [] }),
    ],
    ["conflicting_reducers", "two reducers", () => stateOf({ x: append(item) }, { x: concatFlatten(item) })],
    [
      "conflicting_reducers",
      "two bounds",
      () =>
        stateOf({ x: boundedAppend(item, { maxLength: 1 }) }, { x: boundedAppend(item, { maxLength: 2 }) }),
    ],
  ];
  it.each(wrong)("%s: %s", (code, _, make) => {
    const error = compileError(() => make().compile());
    expect([error.code, error.category]).toEqual([code, code]);
    expect(error.message).not.toBe("");
  });

  it("a field that is declared alike twice is one field", () => {
    const item = z.string();
    const joined = defineState({ x: append(item) }, { x: append(item), y: append(item) });
    const graph = defineGraph(joined)
      .node("a", () => ({ x: ["1"], y: ["2"] }))
      .entry("a")
      .edge("a", END)
      .compile();
    expect(Object.keys(graph.state.fields)).toEqual(["x", "y"]);
  });

  const options: [what: string, make: () => unknown][] = [
    ["a field without a name", () => defineState({ "": append(z.string()) })],
    ["a field that is called __proto__", () => defineState(JSON.parse('{"__proto__":{"spec":{}}}'))],
    ["half a concurrency", () => fanOut({ concurrency: 0.5 })],
    ["no branches", () => start().parallel("p", { branches: {} })],
    ["no steps", () => line({ a: logs("a") }, { limits: { maxSteps: 0 } })],
    ["no room for events", () => line({ a: logs("a") }, { limits: { maxQueuedEvents: -1 } })],
    ["a lease of no time", () => line({ a: logs("a") }, { session: { leaseTtlMs: 0 } })],
    [
      "two fields under one name",
      () => line({ a: logs("a") }, { session: { fields: { log: "x", count: "x" } } }),
    ],
  ];
  it.each(options)("%s is no option", (_, make) => {
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});

describe("suspends_beside_others", () => {
  it("is told for each node that suspends in a branch or an item, at any depth, and nowhere else", async () => {
    const shape = { items: append(z.number()), asked: append(z.string()) };
    const inState = defineState({ ...shape, item: lastWriteWins(z.number(), { default: 0 }) });
    const asks = defineGraph(inState)
      .node("ask", (_, { suspend }) => suspend({ signal_id: "s" }))
      .entry("ask")
      .edge("ask", END)
      .compile();
    const quiet = defineGraph(inState)
      .node("look", () => ({ asked: ["May I?"] }))
      .entry("look")
      .edge("look", END)
      .compile();
    const deep = defineGraph(inState)
      .subgraph("below", { graph: asks })
      .entry("below")
      .edge("below", END)
      .compile({ onWarning: () => expect.unreachable() });
    const told: GraphWarning[] = [];
    const outer = defineGraph(defineState(shape))
      .fanOut("each", {
        graph: asks,
        itemsField: "items",
        itemField: "item",
        collectField: "asked",
        targetField: "asked",
      })
      .parallel("both", { branches: { deep: { graph: deep }, quiet: { graph: quiet } } })
      .node("ask", (_, { suspend }) => suspend({ signal_id: "outer" }))
      .entry("each")
      .edge("each", "both")
      .edge("both", "ask")
      .edge("ask", END)
      .compile({ onWarning: (warning) => told.push(warning) });
    expect(told).toEqual(outer.warnings);
    expect(told.map(({ kind, message }) => [kind, message.split(":")[0]])).toEqual([
      ["suspends_beside_others", "ask suspends inside of each"],
      ["suspends_beside_others", "ask suspends inside of both"],
    ]);
  });
});

describe("projection_reducer_round_trip (graph-engine §2.5)", () => {
  const shape = {
    list: append(item),
    flat: concatFlatten(item),
    bounded: boundedAppend(item, { maxLength: 3 }),
    all: mergeAll(item),
    keyed: mergeByKey(z.object({ id: z.number() }), { key: "id" }),
    plain: lastWriteWins(z.number(), { default: 0 }),
    other: append(item),
  };
  type Name = keyof typeof shape;
  const names = Object.keys(shape) as Name[];
  const shapeState = defineState(shape);
  const inner = defineGraph(shapeState)
    .node("n", () => {})
    .entry("n")
    .edge("n", END)
    .compile();
  const warnings = (projection: object): readonly GraphWarning[] => {
    const told: GraphWarning[] = [];
    const graph = defineGraph(shapeState)
      .subgraph("s", { graph: inner, ...projection })
      .entry("s")
      .edge("s", END)
      .compile({ onWarning: (warning) => told.push(warning) });
    expect(told).toEqual(graph.warnings);
    return graph.warnings;
  };
  const adding = ["list", "flat", "bounded", "all", "other"];

  it("is told for both sets, for inputs and outputs, and for inputs with the default way out", () => {
    const same = Object.fromEntries(names.map((name) => [name, name]));
    for (const projection of [
      { projectsIn: names, projectsOut: names },
      { inputs: same, outputs: same },
      { inputs: same },
    ]) {
      const told = warnings(projection);
      expect(told.map(({ kind }) => kind)).toEqual(adding.map(() => "projection_reducer_round_trip"));
      expect(told.map(({ message }) => message.split(" ")[0])).toEqual(adding);
    }
  });

  it("is not told for different fields, for one direction, and without a projection", () => {
    for (const projection of [
      {},
      { projectsIn: names },
      { projectsOut: names },
      { outputs: { list: "list" } },
      { inputs: { list: "list" }, outputs: { list: "other" } },
      { inputs: { other: "list" }, outputs: { list: "list" } },
    ]) {
      const told = warnings(projection).filter(() => !("inputs" in projection && !("outputs" in projection)));
      expect(told).toEqual([]);
    }
  });
});
