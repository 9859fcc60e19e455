import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  append,
  type CompiledGraph,
  defineGraph,
  defineState,
  END,
  GraphError,
  lastWriteWins,
  type Resolution,
} from "../src/index.ts";
import { createStorage } from "./support/dying-store.ts";

type Shape =
  | { readonly kind: "body"; readonly isIdempotent: boolean; readonly isFailing?: boolean }
  | { readonly kind: "subgraph"; readonly nodes: readonly Shape[] }
  | { readonly kind: "fan_out"; readonly count: number; readonly nodes: readonly Shape[] }
  | { readonly kind: "parallel"; readonly branches: readonly (readonly Shape[])[] };

const body = fc.record({
  kind: fc.constant("body" as const),
  isIdempotent: fc.boolean(),
});
const { nodes: shapes } = fc.letrec<{ nodes: Shape[]; shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { arbitrary: body, weight: 4 },
    { arbitrary: fc.record({ kind: fc.constant("subgraph" as const), nodes: tie("nodes") }), weight: 1 },
    {
      arbitrary: fc.record({
        kind: fc.constant("fan_out" as const),
        count: fc.integer({ min: 1, max: 3 }),
        nodes: tie("nodes"),
      }),
      weight: 1,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("parallel" as const),
        branches: fc.array(tie("nodes"), { minLength: 1, maxLength: 2 }),
      }),
      weight: 1,
    },
  ),
  nodes: fc.array(tie("shape"), { minLength: 1, maxLength: 3 }),
}));

const state = defineState({
  log: append(z.string()),
  item: lastWriteWins(z.number(), { default: 0 }),
  items: lastWriteWins(z.array(z.number()), { default: [0, 1, 2] }),
  laps: lastWriteWins(z.number(), { default: 0 }),
});
type F = typeof state extends { readonly fields?: infer T } ? T : never;
type Graph = CompiledGraph<never> & F;

/** What has happened outside, by place: how often, and what the node returned. */
type World = Map<string, { count: number; readonly update: { log: string[] } }>;

const build = (shapes: readonly Shape[], world: World, options: object, laps = 1): Graph => {
  let builder = defineGraph(state) as never as {
    node(name: string, body: unknown, options?: object): typeof builder;
    subgraph(name: string, options: object): typeof builder;
    fanOut(name: string, options: object): typeof builder;
    parallel(name: string, options: object): typeof builder;
    edge(from: string, to: unknown): typeof builder;
    conditionalEdge(from: string, route: (state: { laps: number }) => unknown): typeof builder;
    entry(name: string): { compile(options: object): Graph };
  };
  const names = shapes.map((_, index) => `n${index}`);
  for (const [index, shape] of shapes.entries()) {
    const name = names[index] as string;
    if (shape.kind === "body") {
      const run = (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
        const update = { log: [idempotencyKey] };
        const before = world.get(idempotencyKey);
        world.set(idempotencyKey, { count: (before?.count ?? 0) + 1, update });
        return update;
      };
      builder = builder.node(name, run, { idempotent: shape.isIdempotent });
    } else if (shape.kind === "subgraph") {
      builder = builder.subgraph(name, { graph: build(shape.nodes, world, {}), outputs: { log: "log" } });
    } else if (shape.kind === "fan_out") {
      builder = builder.fanOut(name, {
        graph: build(shape.nodes, world, {}),
        itemsField: "items",
        itemField: "item",
        collectField: "item",
        targetField: "items",
        concurrency: shape.count,
      });
    } else {
      const graphs = shape.branches.map((nodes) => build(nodes, world, {}));
      const branches = Object.fromEntries(
        graphs.map((graph, branch) => [`b${branch}`, { graph, outputs: { log: "log" } }]),
      );
      builder = builder.parallel(name, { branches });
    }
  }
  const again = { name: "again", body: ({ laps: done }: { laps: number }) => ({ laps: done + 1 }) };
  builder = builder.node(again.name, again.body, { idempotent: true });
  for (const [index, name] of names.entries()) builder = builder.edge(name, names[index + 1] ?? again.name);
  builder = builder.conditionalEdge(again.name, ({ laps: done }) => (done < laps ? names[0] : END));
  return builder.entry(names[0] as string).compile(options);
};

const run = (graph: Graph, options: object): Promise<{ state: { log: readonly string[] } }> =>
  (graph as never as { invoke(options: object): Promise<{ state: { log: readonly string[] } }> }).invoke(
    options,
  );

describe("durability node over crashes", () => {
  it("ends as a run without a crash, and every node that is not idempotent has run once", async () => {
    const deaths = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.boolean()), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(shapes, fc.integer({ min: 1, max: 2 }), deaths, async (nodes, laps, crashes) => {
        const quiet: World = new Map();
        const plain = createStorage();
        const options = (storage: typeof plain, death?: readonly [number, boolean]) => ({
          store: storage.process(death?.[0], death?.[1]),
          clock: storage.clock,
          durability: "node",
        });
        const { state: expected } = await run(build(nodes, quiet, options(plain), laps), {
          invocationId: "r",
        });

        const world: World = new Map();
        const storage = createStorage();
        let resolve: Record<string, Resolution> = {};
        let isBegun = false;
        const queue = [...crashes];
        for (;;) {
          const graph = build(nodes, world, options(storage, queue.shift()), laps);
          const how = isBegun ? { resumeInvocation: "r", resolve } : { invocationId: "r" };
          resolve = {};
          const before = new Map([...world].map(([key, { count }]) => [key, count]));
          try {
            const { state: final } = await run(graph, how);
            expect(final).toEqual(expected);
            break;
          } catch (error) {
            if (!GraphError.isInstance(error)) throw error;
            if (error.code === "node_ambiguous") {
              // Its owner looks at what has happened outside.
              expect([...world].map(([key, { count }]) => [key, count])).toEqual([...before]);
              resolve = Object.fromEntries(
                (error.data.places as { key: string }[]).map(({ key }) => {
                  const happened = world.get(`r:${key}`);
                  return [key, happened ? { kind: "done", result: happened.update } : { kind: "rerun" }];
                }),
              );
            } else expect(error.code).toMatch(/^(run_persistence_failed|session_write_conflict|suspension_)/);
            // No node runs before the run is stored.
            isBegun ||= world.size > 0 || (await storage.store.runs.load("r")) !== null;
            // The last write has ended the run, and its caller does not know.
            if (isBegun && (await storage.store.runs.load("r")) === null) break;
          }
        }
        expect([...world.keys()].sort()).toEqual([...quiet.keys()].sort());
        const isOnce = new Map(
          [...world].map(([key, { count }]) => [key, count] as const).filter(([, count]) => count > 1),
        );
        for (const key of isOnce.keys()) expect(idempotentKeys(nodes)(key), key).toBe(true);
        expect(await storage.store.runs.list()).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

/** Whether the node of a key is idempotent; keys are `run:path` with a number for each node in its graph. */
const idempotentKeys =
  (nodes: readonly Shape[]) =>
  (key: string): boolean => {
    const parts = key.slice(key.indexOf(":") + 1).split("/");
    let graph = nodes;
    let shape: Shape | undefined;
    for (const part of parts) {
      const [task, place = task] = part.includes(".") ? part.split(".") : [undefined, part];
      const branch = /b(\d+)$/.exec(task ?? "")?.[1];
      if (shape?.kind === "parallel") graph = shape.branches[Number(branch)] as readonly Shape[];
      else if (shape !== undefined && shape.kind !== "body") graph = shape.nodes;
      // Laps run the graph again, with its last node between them.
      shape = graph[Number(place) % (graph.length + 1)];
    }
    return shape?.kind !== "body" || shape.isIdempotent;
  };
