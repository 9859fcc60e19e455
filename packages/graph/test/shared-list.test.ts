import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedList } from "../src/index.ts";

describe("shared lists", () => {
  it("are what they were, however their continuations grow", () => {
    const step = fc.tuple(fc.nat(), fc.array(fc.integer(), { maxLength: 4 }), fc.boolean());
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { maxLength: 4 }),
        fc.array(step, { maxLength: 30 }),
        (first, steps) => {
          const lists = [{ list: SharedList.of(first), model: first }];
          for (const [at, items, cut] of steps) {
            const { list, model } = lists[at % lists.length] as (typeof lists)[number];
            const base = cut ? list.first(Math.floor(model.length / 2)) : list;
            const baseModel = cut ? model.slice(0, Math.floor(model.length / 2)) : model;
            lists.push({ list: base.append(items), model: [...baseModel, ...items] });
          }
          for (const { list, model } of lists) {
            expect(list.toArray()).toEqual(model);
            expect(list.view).toEqual(model);
            expect([...list]).toEqual(model);
            expect(list.length).toBe(model.length);
            for (const { list: other, model: otherModel } of lists) {
              const common = list.commonLength(other);
              expect(model.slice(0, common)).toEqual(otherModel.slice(0, common));
              expect(common).toBe(other.commonLength(list));
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each<[number?, number?]>([[], [-1.5], [1.5, 3.7], [0, -1.5], [Number.NaN, 3], [-100, 100], [5, 2]])(
    "give the slice from %s to %s that an array gives",
    (from, to) => {
      const items = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
      expect(SharedList.of(items).slice(from, to)).toEqual(items.slice(from, to));
      expect(SharedList.of(items).view.slice(from, to)).toEqual(items.slice(from, to));
    },
  );

  it("know what they have in common with what they grew from, and nothing of strangers", () => {
    const base = SharedList.of([1, 2]);
    const one = base.append([3]);
    const other = base.append([4, 5]);
    expect([one.commonLength(base), other.commonLength(base), one.commonLength(other)]).toEqual([2, 2, 2]);
    expect(one.lineage).toBe(base.lineage);
    expect(other.lineage).not.toBe(base.lineage);
    expect(SharedList.of([1, 2]).commonLength(base)).toBe(0);
    let fork = base;
    for (let turn = 0; turn < 100; turn++) {
      fork.append([0]);
      fork = fork.append([turn]);
    }
    expect(fork.commonLength(base)).toBe(0);
    expect(fork.toArray()).toHaveLength(102);
    expect(base.append([])).toBe(base);
    expect(base.copy().toArray()).toEqual([1, 2]);
    expect([one.at(0), one.at(-1), one.at(3), one.at(-4)]).toEqual([1, 3, undefined, undefined]);
    expect(JSON.stringify({ one })).toBe('{"one":[1,2,3]}');
  });
});

describe("the view of a list", () => {
  const items = [1, [2], { a: 3 }, null];
  const view = SharedList.of(items).view;

  it("is an array in all that reads", () => {
    const array: readonly unknown[] = items;
    expect(Array.isArray(view)).toBe(true);
    expect(view).toStrictEqual(array);
    expect(JSON.stringify(view)).toBe(JSON.stringify(array));
    expect([...view]).toEqual([...array]);
    expect(Object.keys(view)).toEqual(Object.keys(array));
    expect(Object.entries(view)).toEqual(Object.entries(array));
    expect([0].concat(view as never)).toEqual([0, ...array]);
    expect([view.length, view[0], view[3], view[4], view.at(-2), view.at(9)]).toEqual([
      4,
      1,
      null,
      undefined,
      { a: 3 },
      undefined,
    ]);
    expect([0 in view, 4 in view, "length" in view, "01" in view]).toEqual([true, false, true, false]);
    const calls: ((list: readonly unknown[]) => unknown)[] = [
      (list) => list.map((item, index, all) => [item, index, all.length]),
      (list) => list.filter((item) => item !== null),
      (list) => list.slice(1),
      (list) => list.slice(-2, -1),
      (list) => list.slice(),
      (list) => list.slice(7),
      (list) => list.find((item) => item === null),
      (list) => list.findIndex((item) => Array.isArray(item)),
      (list) => list.findLast((item) => item !== null),
      (list) => list.indexOf(1),
      (list) => list.includes(null),
      (list) => list.join("-"),
      (list) => list.flat(),
      (list) => list.flatMap((item) => [item, item]),
      (list) => list.reduce<unknown[]>((all, item) => [item, ...all.slice(0, 9)], []),
      (list) => list.some((item) => item === null),
      (list) => list.every((item) => item === null),
      (list) => [...list.entries()],
      (list) => [...list.keys()],
      (list) => [...list.values()],
      (list) => list.concat([5]),
      (list) => Array.from(list, String),
      (list) => `${list}`,
      (list) => Object.prototype.toString.call(list),
    ];
    for (const call of calls) expect(call(view)).toEqual(call(array));
  });

  it("cannot be changed, and nor can what reading methods hand out of it", () => {
    const open = view as unknown as unknown[];
    const changes: (() => unknown)[] = [
      () => open.push(5),
      () => open.pop(),
      () => open.shift(),
      () => open.unshift(0),
      () => open.reverse(),
      () => open.sort(),
      () => open.splice(0, 1),
      () => open.fill(0),
      () => {
        open[0] = 7;
      },
      () => {
        open.length = 0;
      },
      () => Reflect.defineProperty(open, "0", { value: 7 }) || Object.defineProperty(open, "0", { value: 7 }),
      () => {
        delete open[0];
      },
      () => Object.setPrototypeOf(open, null),
      () => Object.freeze(open),
      () => open.map((_, __, all) => all.push(1)),
    ];
    for (const change of changes) expect(change).toThrow(TypeError);
    expect(view).toEqual([1, [2], { a: 3 }, null]);
  });
});
