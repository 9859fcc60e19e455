const lists = new WeakSet<readonly unknown[]>();

/**
 * The value of a field whose list only grows: a frozen array of these items and of those that are added. Its mark tells stores that
 * they may keep it item by item; any other array is stored as one value.
 */
export const toList = <T>(items: readonly T[], added: readonly T[] = []): readonly T[] => {
  const list = Object.freeze([...items, ...added]);
  lists.add(list);
  return list;
};

/** Whether a value was made by {@link toList}. */
export const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && lists.has(value);

/** How many items two lists begin with that are the same objects or equal primitives. */
export const commonLength = (one: readonly unknown[], other: readonly unknown[]): number => {
  if (one === other) return one.length;
  const end = Math.min(one.length, other.length);
  let length = 0;
  while (length < end && Object.is(one[length], other[length])) length++;
  return length;
};
