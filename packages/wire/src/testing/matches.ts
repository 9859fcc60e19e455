/**
 * True when `actual` has everything that `expected` has: the same primitives, arrays entry by entry, objects with at
 * least its keys. A function in `expected` judges what stands in its place.
 */
export const matches = (actual: unknown, expected: unknown): boolean => {
  if (typeof expected === "function") return expected(actual) === true;
  if (typeof expected !== "object" || expected === null) return Object.is(actual, expected);
  if (typeof actual !== "object" || actual === null) return false;
  if (Array.isArray(expected) || Array.isArray(actual)) {
    if (!Array.isArray(expected) || !Array.isArray(actual) || actual.length !== expected.length) return false;
    return expected.every((entry, index) => matches(actual[index], entry));
  }
  return Object.entries(expected).every(
    ([key, value]) => Object.hasOwn(actual, key) && matches((actual as Record<string, unknown>)[key], value),
  );
};
