import type { StateSchema } from "../state/schema.ts";

const combine = (reducer: string | undefined, first: unknown, second: unknown): unknown => {
  if (reducer === "last_write_wins") return second;
  if (reducer === "merge") return Object.assign({}, first, second);
  return Array.isArray(first) && Array.isArray(second) ? [...first, ...second] : second;
};

/** One update that does what these do one after the other. */
export const combineUpdates = (
  schema: StateSchema,
  updates: readonly Readonly<Record<string, unknown>>[],
): Record<string, unknown> => {
  const combined: Record<string, unknown> = {};
  for (const [name, value] of updates.flatMap((update) => Object.entries(update))) {
    const reducer = schema.slots[schema.places.get(name) ?? -1]?.spec.reducer;
    combined[name] = Object.hasOwn(combined, name) ? combine(reducer, combined[name], value) : value;
  }
  return combined;
};
