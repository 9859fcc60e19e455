import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  append,
  boundedAppend,
  concatFlatten,
  defineGraph,
  defineState,
  END,
  GraphCompileError,
  type GraphWarning,
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

describe("what does not compile (graph-engine §2.3)", () => {
  const wrong: [id: string, code: string, what: string, compile: () => unknown][] = [
    ["CHAT-56", "no_declared_entry", "no entry", () => start().edge("a", "b").edge("b", END).compile()],
    [
      "CHAT-56",
      "no_declared_entry",
      "an entry that is no node",
      () => start().edge("a", "b").edge("b", END).entry(none).compile(),
    ],
    ["CHAT-56", "no_declared_entry", "nothing at all", () => defineGraph(state).compile()],
    [
      "CHAT-57",
      "unreachable_node",
      "a node that nothing leads to",
      () => start().entry("a").edge("a", END).edge("b", "a").compile(),
    ],
    [
      "CHAT-57",
      "unreachable_node",
      "a node that nothing leads to and that leads nowhere",
      () => start().entry("a").edge("a", END).compile(),
    ],
    [
      "CHAT-58",
      "dangling_edge",
      "an edge from nowhere",
      () => start().entry("a").edge("a", "b").edge("b", END).edge(none, "a").compile(),
    ],
    [
      "CHAT-58",
      "dangling_edge",
      "an edge to nowhere",
      () => start().entry("a").edge("a", none).edge("b", END).compile(),
    ],
    [
      "CHAT-58",
      "dangling_edge",
      "an edge to what is no name",
      () =>
        start()
          .entry("a")
          .edge("a", 7 as never)
          .edge("b", END)
          .compile(),
    ],
    [
      "CHAT-59",
      "multiple_outgoing_edges",
      "two edges of a node",
      () => start().entry("a").edge("a", "b").edge("a", END).edge("b", END).compile(),
    ],
    [
      "CHAT-59",
      "multiple_outgoing_edges",
      "an edge beside a conditional one",
      () =>
        start()
          .entry("a")
          .edge("a", "b")
          .conditionalEdge("a", () => END)
          .edge("b", END)
          .compile(),
    ],
    [
      "CHAT-64",
      "missing_outgoing_edge",
      "a node without an edge",
      () => start().entry("a").edge("a", "b").compile(),
    ],
    [
      "CHAT-64",
      "duplicate_node",
      "two nodes of one name",
      () =>
        start()
          .node("a", () => {})
          .entry("a")
          .edge("a", "b")
          .edge("b", END)
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "an input from nowhere",
      () =>
        start()
          .subgraph("s", { graph: sub, inputs: { count: none } })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "an input to nowhere",
      () =>
        start()
          .subgraph("s", { graph: sub, inputs: { [none]: "count" } })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "an output from nowhere",
      () =>
        start()
          .subgraph("s", { graph: sub, outputs: { count: none } })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "an output to nowhere",
      () =>
        start()
          .subgraph("s", { graph: sub, outputs: { [none]: "count" } })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "a declared field of nobody",
      () =>
        start()
          .subgraph("s", { graph: sub, projectsIn: [none] })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "items from nowhere",
      () =>
        start()
          .fanOut("f", {
            graph: sub,
            itemsField: none,
            itemField: "count",
            collectField: "count",
            targetField: "log",
          })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "results from nowhere",
      () =>
        start()
          .fanOut("f", {
            graph: sub,
            itemsField: "log",
            itemField: "count",
            collectField: none,
            targetField: "log",
          })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "errors to nowhere",
      () =>
        start()
          .fanOut("f", {
            graph: sub,
            itemsField: "log",
            itemField: "count",
            collectField: "count",
            targetField: "log",
            errorsField: none,
          })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "a branch to nowhere",
      () =>
        start()
          .parallel("p", { branches: { one: { graph: sub, outputs: { [none]: "count" } } } })
          .compile(),
    ],
    [
      "CHAT-61",
      "mapping_references_undeclared_field",
      "a session of nothing",
      () => line({ a: logs("a") }, { session: { fields: [none] } }),
    ],
    [
      "CHAT-62",
      "conflicting_projection_forms",
      "inputs beside projectsOut",
      () => start().subgraph("s", { graph: sub, inputs: {}, projectsOut: [] }).compile(),
    ],
    [
      "CHAT-62",
      "conflicting_projection_forms",
      "outputs beside projectsIn",
      () => start().subgraph("s", { graph: sub, outputs: {}, projectsIn: [] }).compile(),
    ],
    [
      "CHAT-60",
      "conflicting_reducers",
      "a field with two reducers",
      () =>
        defineGraph(
          defineState({ x: append(z.number()) }, { x: concatFlatten(z.number()) } as never),
        ).compile(),
    ],
    [
      "CHAT-60",
      "conflicting_reducers",
      "a field with two bounds",
      () =>
        defineGraph(
          defineState(
            { x: boundedAppend(z.number(), { maxLength: 1 }) },
            { x: boundedAppend(z.number(), { maxLength: 2 }) },
          ),
        ).compile(),
    ],
  ];
  it.each(wrong)("%s %s: %s", (_id, code, _, compile) => {
    const error = compileError(compile);
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

  it("a conditional edge may lead to every node", () => {
    const graph = start()
      .entry("a")
      .conditionalEdge("a", () => END)
      .edge("b", END)
      .compile();
    expect(graph.warnings).toEqual([]);
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
  const item = z.number();
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
