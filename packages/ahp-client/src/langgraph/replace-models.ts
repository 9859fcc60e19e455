/** Where the runnables of LangChain keep those that they run: bindings, sequences, maps, fallbacks. */
const parts = ["bound", "first", "middle", "last", "steps", "runnable", "fallbacks"] as const;

const isModel = (value: object): boolean =>
  typeof (value as { _generate?: unknown })._generate === "function";

const isRecord = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

/** The runnable with each of its chat models replaced. What holds none of them is returned as it is. */
export const replaceModels = (runnable: unknown, replace: (model: object) => object): unknown => {
  if (typeof runnable !== "object" || runnable === null) return runnable;
  if (isModel(runnable)) return replace(runnable);
  const held = runnable as Record<string, unknown>;
  const names = Array.isArray(held) || isRecord(held) ? Object.keys(held) : parts;
  const changed: Record<string, unknown> = {};
  for (const name of names) {
    if (!Object.hasOwn(held, name)) continue;
    const next = replaceModels(held[name], replace);
    if (next !== held[name]) changed[name] = next;
  }
  if (Object.keys(changed).length === 0) return runnable;
  const empty = Array.isArray(held) ? [] : Object.create(Object.getPrototypeOf(held));
  return Object.assign(empty, held, changed);
};
