import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BoundedMap, BoundedSet } from "../src/index.ts";

describe("BoundedMap", () => {
  it("drops the oldest entry for a new one, and reports it after it has left", () => {
    const dropped: unknown[] = [];
    const map = new BoundedMap<string, number>({
      maxSize: 2,
      onDrop: (key, value) => dropped.push([key, value, map.has(key), map.size]),
    });
    for (const [key, value] of Object.entries({ a: 1, b: 2 })) map.set(key, value);
    map.set("a", 3).set("c", 4);
    expect([...map]).toEqual([
      ["b", 2],
      ["c", 4],
    ]);
    expect(dropped).toEqual([["a", 3, false, 2]]);
  });

  it("keeps what was touched last", () => {
    const map = new BoundedMap<string, number | undefined>({ maxSize: 2 });
    map.set("a", undefined);
    map.set("b", 2);
    expect([map.touch("a"), map.touch("x"), map.has("x")]).toEqual([undefined, undefined, false]);
    map.set("c", 3);
    expect([...map.keys()]).toEqual(["a", "c"]);
    expect([...map.values()]).toEqual([undefined, 3]);
  });

  it("holds nothing with a limit of 0", () => {
    expect(new BoundedMap({ maxSize: 0 }).set("a", 1).size).toBe(0);
    expect(new BoundedSet({ maxSize: 0 }).add("a").size).toBe(0);
  });
});

describe("BoundedSet", () => {
  it("drops the oldest value", () => {
    const set = new BoundedSet<number>({ maxSize: 2 });
    for (const value of [1, 2, 1, 3]) set.add(value);
    expect([[...set], set.has(1), set.size]).toEqual([[2, 3], false, 2]);
  });
});

describe("a bounded map under any sequence of operations", () => {
  it("drops what a plain list of keys would drop", () => {
    const operation = fc.tuple(fc.constantFrom("set", "delete", "touch", "clear"), fc.nat(12));
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 300 }), (operations) => {
        const map = new BoundedMap<number, number>({ maxSize: 5 });
        let model: number[] = [];
        for (const [name, key] of operations) {
          if (name === "set") {
            map.set(key, key);
            if (!model.includes(key)) model = [...model.slice(model.length >= 5 ? 1 : 0), key];
          } else if (name === "delete") {
            map.delete(key);
            model = model.filter((other) => other !== key);
          } else if (name === "touch") {
            map.touch(key);
            if (model.includes(key)) model = [...model.filter((other) => other !== key), key];
          } else if (name === "clear") {
            map.clear();
            model = [];
          }
          expect([...map.keys()]).toEqual(model);
        }
      }),
    );
  });
});
