import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import {
  append,
  concatFlatten,
  defineGraph,
  defineState,
  END,
  errorCategory,
  lastWriteWins,
} from "../src/index.ts";
import { failure, line, logs, recorder, state } from "./support/graphs.ts";

const subState = defineState({
  log: append(z.string()),
  item: lastWriteWins(z.number(), { default: -1 }),
  result: lastWriteWins(z.string(), { default: "none" }),
});
const sub = defineGraph(subState)
  .node("work", async ({ item, log }) => {
    if (item === 13) throw new TypeError("unlucky");
    await Promise.resolve();
    return { result: `r${item}`, log: [`work ${item} of ${log.length}`] };
  })
  .entry("work")
  .edge("work", END)
  .compile();

describe("subgraphs (graph-engine §4)", () => {
  const outer = (projection: object) =>
    defineGraph(state)
      .node("before", logs("before"))
      .subgraph("sub", { graph: sub, ...projection })
      .node("after", logs("after"))
      .entry("before")
      .edge("before", "sub")
      .edge("sub", "after")
      .edge("after", END)
      .compile({ onWarning: () => {} });
  const logOf = async (projection: object) =>
    (await outer(projection).invoke({ initial: { count: 5 } })).state;

  it("get nothing, and give the fields of the same name", async () => {
    expect(await logOf({})).toEqual({ log: ["before", "work -1 of 0", "after"], count: 5, approved: null });
  });

  it("get what inputs name, and give only what outputs name", async () => {
    expect((await logOf({ inputs: { item: "count" } })).log).toEqual(["before", "work 5 of 0", "after"]);
    expect((await logOf({ inputs: { log: "log" } })).log).toEqual([
      "before",
      "before",
      "work -1 of 1",
      "after",
    ]);
    expect(await logOf({ outputs: { count: "item" } })).toMatchObject({
      log: ["before", "after"],
      count: -1,
    });
    expect((await logOf({ outputs: {} })).log).toEqual(["before", "after"]);
  });

  it("get and give what is declared, and nothing else", async () => {
    expect((await logOf({ projectsIn: ["log"] })).log).toEqual(["before", "after"]);
    expect((await logOf({ projectsOut: ["log"] })).log).toEqual(["before", "work -1 of 0", "after"]);
  });

  it("are transparent: steps and events are those of the nodes inside", async () => {
    const told = recorder();
    const middle = defineGraph(state)
      .node("m", () => ({ count: 1 }))
      .subgraph("deep", { graph: sub })
      .entry("m")
      .edge("m", "deep")
      .edge("deep", END)
      .compile();
    const graph = defineGraph(state)
      .node("a", logs("a"))
      .subgraph("mid", { graph: middle })
      .node("z", logs("z"))
      .entry("a")
      .edge("a", "mid")
      .edge("mid", "z")
      .edge("z", END)
      .compile();
    await graph.invoke({ observers: [told.observe] });
    await graph.drain();
    const started = told.events.filter(({ phase }) => phase === "started");
    expect(
      started.map((event) => [event.namespace.join("/"), event.step, event.parent_states.length]),
    ).toEqual([
      ["a", 0, 0],
      ["mid/m", 1, 1],
      ["mid/deep/work", 2, 2],
      ["z", 3, 0],
    ]);
    expect(started[2]?.parent_states).toMatchObject([
      { log: ["a"], count: 0 },
      { log: [], count: 1 },
    ]);
  });

  it("fail as their node does, and are not wrapped again", async () => {
    const error = await failure(outer({ inputs: { item: "count" } }).invoke({ initial: { count: 13 } }));
    expect(error).toMatchObject({
      code: "node_exception",
      node_name: "work",
      namespace: ["sub", "work"],
      cause: new TypeError("unlucky"),
    });
    expect(error.recoverable_state).toMatchObject({ item: 13 });
  });

  it("refuse an input that they do not take", async () => {
    const strict = defineGraph(defineState({ item: lastWriteWins(z.number().max(3), { default: 0 }) }))
      .node("n", () => {})
      .entry("n")
      .edge("n", END)
      .compile();
    const graph = defineGraph(state)
      .subgraph("s", { graph: strict, inputs: { item: "count" } })
      .entry("s")
      .edge("s", END)
      .compile();
    expect(await failure(graph.invoke({ initial: { count: 4 } }))).toMatchObject({
      code: "state_validation_error",
      fields: ["item"],
    });
  });
});

const fanState = defineState({
  items: lastWriteWins(z.array(z.number()), { default: [] }),
  results: append(z.string()),
  nested: concatFlatten(z.string()),
  errors: append(z.unknown()),
});

describe("fan-out (pipeline-utilities §9)", () => {
  const options = {
    graph: sub,
    itemsField: "items",
    itemField: "item",
    collectField: "result",
    targetField: "results",
  } as const;
  const fan = (more: object) =>
    defineGraph(fanState)
      .fanOut("fan", { ...options, ...more })
      .entry("fan")
      .edge("fan", END)
      .compile();

  it("gives the results in the order of the items, whatever ends first", async () => {
    const gates = [0, 1, 2].map(() => createDeferred<void>());
    const order: number[] = [];
    const slow = defineGraph(subState)
      .node("work", async ({ item }) => {
        await gates[item]?.promise;
        order.push(item);
        gates[item - 1]?.resolve();
        return { result: `r${item}` };
      })
      .entry("work")
      .edge("work", END)
      .compile();
    gates[2]?.resolve();
    const { state: final } = await fan({ graph: slow }).invoke({
      initial: { items: [0, 1, 2], results: ["old"] },
    });
    expect([final.results, order]).toEqual([
      ["old", "r0", "r1", "r2"],
      [2, 1, 0],
    ]);
    const lists = await fan({ collectField: "log", targetField: "nested" }).invoke({
      initial: { items: [4, 5] },
    });
    expect(lists.state.nested).toEqual(["work 4 of 0", "work 5 of 0"]);
  });

  it("runs no more at once than it may, begun in order", async () => {
    for (const [concurrency, expected] of [
      [1, 1],
      [3, 3],
      [undefined, 10],
    ] as const) {
      let running = 0;
      let most = 0;
      const begun: number[] = [];
      const counted = defineGraph(subState)
        .node("work", async ({ item }) => {
          begun.push(item);
          most = Math.max(most, ++running);
          await nextTurn();
          running--;
        })
        .entry("work")
        .edge("work", END)
        .compile();
      const items = Array.from({ length: 25 }, (_, index) => index);
      await fan({ graph: counted, ...(concurrency === undefined ? {} : { concurrency }) }).invoke({
        initial: { items },
      });
      expect([most, begun]).toEqual([expected, items]);
    }
  });

  it("fails with the first error, cancels the others and merges nothing", async () => {
    let aborted = 0;
    const cause = new TypeError("broken");
    const graph = fan({
      graph: defineGraph(subState)
        .node("work", async ({ item }, { signal }) => {
          if (item === 2) throw cause;
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          aborted++;
        })
        .node("next", () => expect.fail("nobody waits for it"))
        .entry("work")
        .edge("work", "next")
        .edge("next", END)
        .compile(),
      concurrency: 3,
    });
    const told = recorder();
    const error = await failure(
      graph.invoke({ initial: { items: [0, 1, 2, 3], results: ["old"] }, observers: [told.observe] }),
    );
    await graph.drain();
    expect(error).toMatchObject({
      code: "node_exception",
      node_name: "fan",
      recoverable_state: { results: ["old"] },
    });
    expect(error.cause).toMatchObject({
      code: "node_exception",
      node_name: "work",
      namespace: ["fan", "work"],
      cause,
    });
    expect(aborted).toBe(2);
    for (const phase of ["started", "completed"])
      expect(told.events.filter((event) => event.phase === phase)).toHaveLength(4);
  });

  it("leaves out what failed, where it collects", async () => {
    const { state: final } = await fan({ errorPolicy: "collect", errorsField: "errors" }).invoke({
      initial: { items: [1, 13, 2] },
    });
    expect(final.results).toEqual(["r1", "r2"]);
    expect(final.errors).toEqual([{ key: 1, category: null, message: "work: unlucky" }]);
    const silent = await fan({ errorPolicy: "collect" }).invoke({ initial: { items: [13] } });
    expect([silent.state.results, silent.state.errors]).toEqual([[], []]);
  });

  it("does not do with nothing, unless it may", async () => {
    const error = await failure(fan({}).invoke());
    expect([error.code, errorCategory(error)]).toEqual(["node_exception", "fan_out_empty"]);
    expect((await fan({ onEmpty: "noop" }).invoke()).state.results).toEqual([]);
  });

  it("tells its configuration, and each instance its index", async () => {
    const told = recorder();
    const inner = defineGraph(fanState).fanOut("in", options).entry("in").edge("in", END).compile();
    const graph = defineGraph(
      defineState({
        lists: lastWriteWins(z.array(z.array(z.number())), { default: [[7], [8, 9]] }),
        all: append(z.unknown()),
      }),
    )
      .fanOut("out", {
        graph: inner,
        itemsField: "lists",
        itemField: "items",
        collectField: "results",
        targetField: "all",
        concurrency: 1,
      })
      .entry("out")
      .edge("out", END)
      .compile();
    const { state: final } = await graph.invoke({
      observers: [{ observe: told.observe, phases: ["completed"] }],
    });
    await graph.drain();
    expect(final.all).toEqual([["r7"], ["r8", "r9"]]);
    expect(
      told.events.map((event) => [event.namespace.join("/"), event.fan_out_index, event.fan_out_index_chain]),
    ).toEqual([
      ["out/in/work", 0, [0, 0]],
      ["out/in", 0, [0]],
      ["out/in/work", 0, [1, 0]],
      ["out/in/work", 1, [1, 1]],
      ["out/in", 1, [1]],
      ["out", undefined, []],
    ]);
    expect(told.events.map((event) => event.branch_name_chain)).toEqual([
      [null, null],
      [null],
      [null, null],
      [null, null],
      [null],
      [],
    ]);
    expect(told.events.at(-1)?.fan_out_config).toEqual({
      item_count: 2,
      concurrency: 1,
      error_policy: "fail_fast",
    });
  });
});

describe("parallel branches (pipeline-utilities §10)", () => {
  const branch = (name: string, wait: Promise<void>, done: () => void) =>
    line({
      [name]: async ({ count }) => {
        await wait;
        done();
        return { log: [`${name} ${count}`], count: count + 1 };
      },
    });

  it("run at once, and are merged in the order of their declaration", async () => {
    const told = recorder();
    const first = createDeferred<void>();
    const graph = defineGraph(state)
      .parallel("p", {
        branches: {
          slow: { graph: branch("s", first.promise, () => {}), inputs: { count: "count" } },
          fast: {
            graph: branch("f", Promise.resolve(), first.resolve as () => void),
            outputs: { log: "log" },
          },
        },
      })
      .entry("p")
      .edge("p", END)
      .compile();
    const { state: final } = await graph.invoke({
      initial: { count: 5, log: ["old"] },
      observers: [told.observe],
    });
    await graph.drain();
    expect(final).toEqual({ log: ["old", "s 5", "f 0"], count: 6, approved: null });
    expect(
      told.events
        .filter(({ phase }) => phase === "completed")
        .map((event) => [event.namespace.join("/"), event.branch_name, event.branch_name_chain]),
    ).toEqual([
      ["p/f", "fast", ["fast"]],
      ["p/s", "slow", ["slow"]],
      ["p", undefined, []],
    ]);
    expect(told.events[0]?.parallel_branches_config).toEqual({
      branch_names: ["slow", "fast"],
      error_policy: "fail_fast",
    });
  });

  it("have chains that are aligned with the namespace, null where there is no item and no branch", async () => {
    const told = recorder();
    const items = defineState({ items: append(z.number()), item: lastWriteWins(z.number(), { default: 0 }) });
    const leaf = defineGraph(items)
      .node("leaf", () => {})
      .entry("leaf")
      .edge("leaf", END)
      .compile();
    const each = defineGraph(items)
      .fanOut("each", {
        graph: leaf,
        itemsField: "items",
        itemField: "item",
        collectField: "item",
        targetField: "items",
      })
      .entry("each")
      .edge("each", END)
      .compile();
    const plain = defineGraph(items)
      .subgraph("plain", { graph: each, projectsIn: ["items"] })
      .entry("plain")
      .edge("plain", END)
      .compile();
    const graph = defineGraph(items)
      .parallel("both", { branches: { one: { graph: plain, inputs: { items: "items" } } } })
      .entry("both")
      .edge("both", END)
      .compile();
    await graph.invoke({
      initial: { items: [5] },
      observers: [{ observe: told.observe, phases: ["completed"] }],
    });
    await graph.drain();
    expect(
      told.events.map((event) => ({
        namespace: event.namespace.join("/"),
        items: event.fan_out_index_chain,
        branches: event.branch_name_chain,
        innermost: [event.fan_out_index, event.branch_name],
      })),
    ).toEqual([
      {
        namespace: "both/plain/each/leaf",
        items: [null, null, 0],
        branches: ["one", null, null],
        innermost: [0, "one"],
      },
      {
        namespace: "both/plain/each",
        items: [null, null],
        branches: ["one", null],
        innermost: [undefined, "one"],
      },
      { namespace: "both", items: [], branches: [], innermost: [undefined, undefined] },
    ]);
  });

  it("fail as one", async () => {
    const broken = line({ b: () => Promise.reject(new TypeError("broken")) });
    const branches = { good: { graph: line({ g: logs("g") }) }, bad: { graph: broken } };
    const fast = defineGraph(state).parallel("p", { branches }).entry("p").edge("p", END).compile();
    const error = await failure(fast.invoke());
    expect(error).toMatchObject({
      code: "parallel_branches_branch_failed",
      node_name: "p",
      recoverable_state: { log: [] },
    });
    expect(errorCategory(error)).toBeNull();
    const collecting = defineGraph(defineState({ log: append(z.string()), errors: append(z.unknown()) }))
      .parallel("p", { branches, errorPolicy: "collect", errorsField: "errors" })
      .entry("p")
      .edge("p", END)
      .compile();
    const { state: final } = await collecting.invoke();
    expect(final).toEqual({ log: ["g"], errors: [{ key: "bad", category: null, message: "b: broken" }] });
  });

  it("merge into one field as one after the other would, for every reducer that lists take", async () => {
    const same = defineGraph(state)
      .parallel("p", {
        branches: {
          a: { graph: line({ a: () => ({ log: ["1"], count: 1 }) }) },
          b: { graph: line({ b: () => ({ log: ["2", "3"], count: 2 }) }) },
        },
      })
      .entry("p")
      .edge("p", END)
      .compile();
    expect((await same.invoke()).state).toEqual({ log: ["1", "2", "3"], count: 2, approved: null });
  });
});
