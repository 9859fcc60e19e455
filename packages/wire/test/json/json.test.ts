import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  copyJson,
  freezeJson,
  isPlainObject,
  JsonError,
  jsonProblem,
  maxJsonDepth,
  measureJson,
  utf8Length,
} from "../../src/json/index.ts";

const utf8 = new TextEncoder();
const bytesOf = (value: unknown): number => utf8.encode(JSON.stringify(value)).length;
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
const failure = (run: () => unknown): JsonError => {
  try {
    run();
  } catch (error) {
    if (error instanceof JsonError) return error;
  }
  throw new TypeError("no JsonError was thrown");
};

/** Any JSON value, with keys and strings of all kinds. */
const json = fc.jsonValue({ stringUnit: "binary", maxDepth: 6 });
/** As a reader of its text gets it, without keys that could change a prototype. */
const toPlain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, part: unknown) => (key === "__proto__" ? undefined : part));

describe("the JSON walk", () => {
  it("copies any JSON value whole and shares nothing with it", () => {
    fc.assert(
      fc.property(json, (value) => {
        const plain = toPlain(value);
        const copy = copyJson(value, { freeze: true });
        expect(JSON.stringify(copy)).toBe(JSON.stringify(plain));
        if (typeof value === "object" && value !== null) expect(copy).not.toBe(value);
      }),
    );
  });

  it("takes exactly the bytes of the text, and refuses one byte less", () => {
    fc.assert(
      fc.property(json, (value) => {
        const plain = toPlain(value);
        const bytes = bytesOf(plain);
        expect(measureJson(plain).length).toBeLessThanOrEqual(bytes);
        expect(jsonProblem(plain, { maxBytes: bytes })).toBeUndefined();
        expect(jsonProblem(plain, { maxBytes: bytes - 1 })?.code).toBe("too_large");
      }),
    );
  });

  it("never throws anything but a JsonError, whatever it gets", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSparseArray: true,
      withNullPrototype: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const problem = jsonProblem(value);
        if (problem) expect(failure(() => copyJson(value)).code).toBe(problem.code);
        else expect(JSON.stringify(copyJson(value))).toBe(JSON.stringify(toPlain(value)));
      }),
    );
  });

  it("counts levels: a value of 64 passes, one of 65 is too deep", () => {
    expect(maxJsonDepth).toBe(64);
    expect(jsonProblem(nested(64))).toBeUndefined();
    expect(jsonProblem(nested(65))?.code).toBe("too_deep");
    expect(jsonProblem([], { maxDepth: 0 })?.code).toBe("too_deep");
    expect(jsonProblem(1, { maxDepth: 0 })).toBeUndefined();
  });

  it("refuses a value that contains itself as too deep, and copies twice what occurs twice", () => {
    const cycle: unknown[] = [];
    cycle.push({ cycle });
    expect(failure(() => copyJson(cycle)).code).toBe("too_deep");
    const shared = { a: 1 };
    const copy = copyJson<{ a: number }[]>([shared, shared]);
    expect(copy[0]).not.toBe(copy[1]);
  });

  it.each([
    ["undefined", undefined],
    ["NaN", Number.NaN],
    ["an infinity", Number.NEGATIVE_INFINITY],
    ["a bigint", 1n],
    ["a symbol", Symbol("s")],
    ["a function", () => 1],
    ["a Date", new Date(0)],
    ["a Map", new Map()],
    ["bytes", new Uint8Array(1)],
    ["a boxed string", Object("s")],
    ["a gap in an array", new Array(1)],
    ["undefined in an array", [undefined]],
    ["an own toJSON", { toJSON: () => 1 }],
    ["an instance of a class", new (class Point {})()],
    ["an object that inherits", Object.create({ a: 1 })],
  ])("refuses %s", (_, value) => {
    expect(
      failure(() => copyJson({ list: [value], ...(value === undefined && { list: [0, undefined] }) })).code,
    ).toBe("not_json");
  });

  it("leaves out undefined properties, symbols, inherited and hidden properties, and keys __proto__", () => {
    const value = {
      a: 1,
      b: undefined,
      [Symbol("s")]: 1,
      nested: JSON.parse('{"__proto__":{"x":1},"y":2}') as unknown,
    };
    Object.defineProperty(value, "hidden", { value: 1 });
    const copy = copyJson(value);
    expect(JSON.stringify(copy)).toBe('{"a":1,"nested":{"y":2}}');
    expect(({} as { x?: number }).x).toBeUndefined();
    expect(measureJson(value).length).toBeLessThanOrEqual(24);
  });

  it("takes objects without a prototype and those of another realm", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(copyJson(bare)).toEqual({ a: 1 });
    const foreign: unknown = Object.create(Object.create(null) as object);
    expect([isPlainObject(foreign), isPlainObject([]), isPlainObject(null)]).toEqual([true, false, false]);
  });

  it("reads each field once, and reports what a getter or a proxy throws", () => {
    let reads = 0;
    const counting = {
      get a() {
        return ++reads;
      },
    };
    expect(copyJson(counting)).toEqual({ a: 1 });
    const cause = { why: "test" };
    const broken = {
      list: [
        {
          get a() {
            throw cause;
          },
        },
      ],
    };
    const error = failure(() => copyJson(broken));
    expect([error.code, error.cause]).toEqual(["not_json", cause]);
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw cause;
        },
      },
    );
    expect(failure(() => measureJson(proxy)).cause).toBe(cause);
  });

  it("freezes copies and values at any depth", () => {
    const value = { a: [{ b: 1 }] };
    const copy = copyJson<typeof value>(value, { freeze: true });
    expect([Object.isFrozen(copy), Object.isFrozen(copy.a), Object.isFrozen(copy.a[0])]).toEqual([
      true,
      true,
      true,
    ]);
    expect(Object.isFrozen(value)).toBe(false);
    expect(freezeJson(value)).toBe(value);
    expect(Object.isFrozen(value.a[0])).toBe(true);
  });

  it("counts values", () => {
    expect(measureJson({ a: [1, null], b: "x" }).nodes).toBe(5);
  });
});

it("utf8Length counts the bytes that an encoder writes", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "\ud800", "\udc00", "\ud83d\ude00"),
      (text, tail) => {
        expect(utf8Length(text + tail)).toBe(utf8.encode(text + tail).length);
      },
    ),
  );
});

it("a value that shares its parts many times over is left at its limit", () => {
  let shared: unknown = "x";
  for (let depth = 0; depth < 60; depth++) shared = { left: shared, right: shared };
  expect(jsonProblem(shared, { maxBytes: 1024 })?.code).toBe("too_large");
  const twice: Record<string, unknown> = {};
  Object.assign(twice, { one: twice, other: twice });
  expect(jsonProblem(twice, { maxBytes: 1024, maxDepth: 2000 })?.code).toBe("too_large");
});
