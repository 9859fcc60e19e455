/** Values that a field of a message seldom has: each is wrong for most fields. */
export const oddValues: readonly unknown[] = [
  undefined,
  null,
  "",
  "2026-02-30T12:00:00Z",
  0,
  -1,
  1.5,
  2,
  Number.POSITIVE_INFINITY,
  true,
  [],
  {},
  { a: Number.NaN },
  JSON.parse('{"__proto__":1}'),
];
