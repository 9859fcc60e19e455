import { describe, expect, expectTypeOf, it } from "vitest";
import { checkNumber, defineLimits, type LimitsOf } from "../src/index.ts";

const limits = defineLimits({
  /** Sessions at the same time. */
  maxSessions: 64,
  timeoutMs: 1000,
  maxDepth: { default: 10, min: 0, max: 256 },
});

describe("defineLimits", () => {
  it("resolves what is given and the defaults of the rest, frozen", () => {
    const resolved = limits.resolve({ maxDepth: 0, timeoutMs: undefined });
    expect(resolved).toEqual({ maxSessions: 64, timeoutMs: 1000, maxDepth: 0 });
    expect(Object.isFrozen(resolved)).toBe(true);
    expect(limits.resolve()).toEqual(limits.defaults);
    expectTypeOf<LimitsOf<typeof limits>>().toEqualTypeOf<{
      readonly maxSessions: number;
      readonly timeoutMs: number;
      readonly maxDepth: number;
    }>();
  });

  it.each([
    [{ maxSessions: 0 }, "limits.maxSessions must be a whole number of at least 1, got 0"],
    [{ maxSessions: 1.5 }, "limits.maxSessions must be a whole number of at least 1, got 1.5"],
    [
      { maxSessions: "9" },
      "limits.maxSessions must be a whole number of at least 1, got a value of type string",
    ],
    [{ timeoutMs: 2 ** 31 }, "limits.timeoutMs must be a whole number from 1 to 2147483647, got 2147483648"],
    [{ maxDepth: 257 }, "limits.maxDepth must be a whole number from 0 to 256, got 257"],
    [{ maxdepth: 1 }, "limits.maxdepth is not a limit; the limits are maxSessions, timeoutMs, maxDepth"],
  ])("refuses %j with invalid_argument", (overrides, message) => {
    expect(() => limits.resolve(overrides as never)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message }),
    );
  });

  it("names the field below the path that it gets", () => {
    expect(() => limits.resolve({ maxDepth: -1 }, "options.limits")).toThrow(
      "options.limits.maxDepth must be",
    );
  });
});

it("checkNumber checks a single option", () => {
  expect(checkNumber("ratio", 0.5, { min: 0, max: 1, allowFraction: true })).toBe(0.5);
  expect(() => checkNumber("ratio", Number.NaN, { min: 0, max: 1, allowFraction: true })).toThrow(
    "ratio must be a number from 0 to 1, got NaN",
  );
});
