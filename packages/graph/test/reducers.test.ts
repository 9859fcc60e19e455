import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { runs } from "../../../test-kit/nightly.ts";
import {
  append,
  boundedAppend,
  concatFlatten,
  dedupeAppend,
  defineGraph,
  defineState,
  END,
  type Field,
  field,
  GraphCompileError,
  lastWriteWins,
  merge,
  mergeAll,
  mergeByKey,
} from "../src/index.ts";
import { failure } from "./support/graphs.ts";

/** Runs one node after the other, each of which gives an update of the field. */
const reduce = async (declared: Field, ...updates: unknown[]): Promise<unknown> => {
  const state = defineState({ value: declared, turn: lastWriteWins(z.number(), { default: 0 }) });
  const graph = defineGraph(state)
    .node("update", ({ turn }) => ({ value: updates[turn], turn: turn + 1 }))
    .entry("update")
    .conditionalEdge("update", ({ turn }) => (turn < updates.length ? "update" : END))
    .compile();
  return (await graph.invoke()).state.value;
};

const any = z.unknown();
const record = z.object({ id: z.unknown(), v: z.number().optional() });

describe("the eight reducers (graph-engine §2)", () => {
  it("last_write_wins replaces, and is the default", async () => {
    const declared = field(z.number(), { default: 1 });
    expect(declared.reducer).toBe("last_write_wins");
    expect(await reduce(declared, 2, 3)).toBe(3);
    expect(await reduce(declared, undefined)).toBe(1);
  });

  it("bounded_append drops from the front, and leaves what is too long alone for nothing", async () => {
    expect(await reduce(boundedAppend(any, { maxLength: 3 }), [1, 2], [3, 4], [5])).toEqual([3, 4, 5]);
    const long = boundedAppend(any, { maxLength: 1, default: [1, 2, 3] });
    expect(await reduce(long, [])).toEqual([1, 2, 3]);
    expect(await reduce(long, [4])).toEqual([4]);
  });

  it("dedupe_append keeps the first of a key, and what was there before", async () => {
    expect(await reduce(dedupeAppend(any, { default: [1, 1] }), [2, 1, 2, 3], [3, null, null])).toEqual([
      1,
      1,
      2,
      3,
      null,
    ]);
    const keyed = dedupeAppend(record, { key: "id" });
    expect(
      await reduce(
        keyed,
        [
          { id: 1, v: 1 },
          { id: 1, v: 2 },
        ],
        [{ id: 1, v: 3 }, { id: "1" }],
      ),
    ).toEqual([{ id: 1, v: 1 }, { id: "1" }]);
  });

  it("merge_by_key replaces the last of a key in place", async () => {
    const old = [{ id: 1, v: 1 }, { id: 2 }, { id: 1, v: 2 }];
    const declared = mergeByKey(record, { key: ({ id }) => id as number, default: old });
    const update = [
      { id: 1, v: 3 },
      { id: 3, v: 1 },
      { id: 3, v: 2 },
    ];
    expect(await reduce(declared, update, [])).toEqual([
      { id: 1, v: 1 },
      { id: 2 },
      { id: 1, v: 3 },
      { id: 3, v: 2 },
    ]);
  });

  it("change neither what was there nor the update", async () => {
    const seen: unknown[] = [];
    const state = defineState({
      list: append(any),
      map: merge(any),
      keyed: mergeByKey(record, { key: "id" }),
      bounded: boundedAppend(any, { maxLength: 2 }),
      turn: lastWriteWins(z.number(), { default: 0 }),
    });
    const update = { list: [{ a: [1] }], map: { k: { b: 1 } }, keyed: [{ id: 1 }], bounded: [1, 2] };
    const graph = defineGraph(state)
      .node("n", (current) => {
        seen.push(current, JSON.parse(JSON.stringify(current)));
        return { ...update, turn: current.turn + 1 };
      })
      .entry("n")
      .conditionalEdge("n", ({ turn }) => (turn < 5 ? "n" : END))
      .compile();
    await graph.invoke();
    for (let index = 0; index < seen.length; index += 2) expect(seen[index]).toEqual(seen[index + 1]);
    expect(update).toEqual({ list: [{ a: [1] }], map: { k: { b: 1 } }, keyed: [{ id: 1 }], bounded: [1, 2] });
  });

  const refused: [what: string, declared: Field, update: unknown][] = [
    ["append what is no list", append(any), "ab"],
    ["merge what is no mapping", merge(any), [1]],
    ["merge null", merge(any), null],
    ["flatten what is no list of lists", concatFlatten(any), [[1], 2]],
    ["flatten a mapping", concatFlatten(any), { 0: [1] }],
    ["fold what is no list", mergeAll(any), { a: 1 }],
    ["fold what is no mapping", mergeAll(any), [{ a: 1 }, [2]]],
    ["bound what is no list", boundedAppend(any, { maxLength: 1 }), {}],
    ["tell objects apart", dedupeAppend(any), [{ a: 1 }]],
    ["tell records without the key apart", dedupeAppend(record, { key: "v" }), [{ id: 1 }]],
    ["key by an object", mergeByKey(record, { key: "id" }), [{ id: {} }]],
    ["key by undefined", mergeByKey(record, { key: "v" }), [{ id: 1 }]],
    ["key what is no list", mergeByKey(record, { key: "id" }), "x"],
  ];
  it.each(refused)("cannot %s", async (_, declared, update) => {
    const error = await failure(reduce(declared, update));
    expect(error).toMatchObject({
      code: "reducer_error",
      category: "reducer_error",
      node_name: "update",
      namespace: ["update"],
      fields: ["value"],
      reducer: declared.reducer,
    });
    expect(error.recoverable_state).toMatchObject({ turn: 0 });
  });

  it("name a key function that throws, with its error", async () => {
    const cause = new TypeError("no key");
    const declared = dedupeAppend(any, {
      key: () => {
        throw cause;
      },
    });
    const error = await failure(reduce(declared, [1]));
    expect(error).toMatchObject({ code: "reducer_error", reducer: "dedupe_append", cause });
  });

  const misconfigured: [what: string, declared: Field][] = [
    ["no bound", boundedAppend(any, {} as never)],
    ["a bound of 0", boundedAppend(any, { maxLength: 0 })],
    ["half a bound", boundedAppend(any, { maxLength: 1.5 })],
    ["no key of records", mergeByKey(record, {} as never)],
    ["null as key of records", mergeByKey(record, { key: null as never })],
    ["null as key of items", dedupeAppend(record, { key: null as never })],
  ];
  it.each(misconfigured)("%s does not compile", async (_, declared) => {
    const compile = () =>
      defineGraph(defineState({ value: declared }))
        .node("n", () => {})
        .entry("n")
        .edge("n", END)
        .compile();
    expect(compile).toThrow(GraphCompileError);
    expect(compile).toThrow(expect.objectContaining({ code: "reducer_configuration_invalid" }));
  });

  it("agree with what they are defined as, for any updates", async () => {
    const item = fc.integer({ min: 0, max: 5 });
    const records = fc.array(fc.record({ id: item, v: item }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(item, { maxLength: 5 }), { minLength: 1, maxLength: 5 }),
        fc.array(records, { minLength: 1, maxLength: 4 }),
        async (updates, keyed) => {
          const all = updates.flat();
          expect(await reduce(append(any), ...updates)).toEqual(all);
          expect(await reduce(dedupeAppend(any), ...updates)).toEqual([...new Set(all)]);
          const bounded = updates.reduce<number[]>(
            (old, add) => (add.length === 0 ? old : old.concat(add).slice(-3)),
            [],
          );
          expect(await reduce(boundedAppend(any, { maxLength: 3 }), ...updates)).toEqual(bounded);
          const byKey = new Map(keyed.flat().map((entry) => [entry.id, entry]));
          expect(await reduce(mergeByKey(record, { key: "id" }), ...keyed)).toEqual([...byKey.values()]);
        },
      ),
      { numRuns: runs(20) },
    );
  });
});
