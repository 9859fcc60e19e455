const copyList = (list: readonly unknown[]): unknown[] => {
  const copy: unknown[] = [];
  for (const entry of list) copy.push(copyJson(entry));
  return copy;
};

/**
 * A copy of JSON, each field of which was read once: what was checked is what is sent and kept, whatever whoever made it does
 * with it later. Keys without a value and keys `__proto__` are left out; what is no JSON is left for the schema to refuse.
 */
export const copyJson = <T>(value: T): T => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return copyList(value) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const field: unknown = value[key];
    if (field !== undefined && key !== "__proto__") copy[key] = copyJson(field);
  }
  return copy as T;
};
