import { isObject } from "./json.ts";

/** The first place where what is applied is not what was wanted. */
export interface JsonDifference {
  /** Keys and indices, joined by points: `arguments.tags.0`; empty for the whole value. Untrusted text. */
  readonly path: string;
  /** `missing`: wanted and not applied; `added`: applied and not wanted; `changed`: another value. */
  readonly kind: "missing" | "added" | "changed";
}

type Entries = Readonly<Record<string, unknown>>;

const has = (value: Entries, key: string): boolean => Object.hasOwn(value, key) && value[key] !== undefined;

/** The path of a key or index below a path. */
const below = (path: string, key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);

const inLists = (wanted: readonly unknown[], applied: readonly unknown[], path: string) => {
  for (let index = 0; index < Math.max(wanted.length, applied.length); index++) {
    const inner = below(path, index);
    if (index >= applied.length) return { path: inner, kind: "missing" } as const;
    if (index >= wanted.length) return { path: inner, kind: "added" } as const;
    const found = jsonDifference(wanted[index], applied[index], inner);
    if (found) return found;
  }
  return undefined;
};

const inObjects = (wanted: Entries, applied: Entries, path: string): JsonDifference | undefined => {
  for (const key of Object.keys(wanted)) {
    if (!has(wanted, key)) continue;
    if (!has(applied, key)) return { path: below(path, key), kind: "missing" };
    const found = jsonDifference(wanted[key], applied[key], below(path, key));
    if (found) return found;
  }
  const added = Object.keys(applied).find((key) => has(applied, key) && !has(wanted, key));
  return added === undefined ? undefined : { path: below(path, added), kind: "added" };
};

/**
 * Compares two JSON values: undefined where they are the same JSON, whatever the order of their keys, else the first
 * difference. A key whose value is undefined is absent. Takes values of bounded depth, as a codec gives them.
 *
 * @param path where the values are, for the paths of differences
 */
export const jsonDifference = (wanted: unknown, applied: unknown, path = ""): JsonDifference | undefined => {
  if (wanted === applied) return undefined;
  if (Array.isArray(wanted) && Array.isArray(applied)) return inLists(wanted, applied, path);
  if (isObject(wanted) && isObject(applied)) return inObjects(wanted, applied, path);
  return { path, kind: "changed" };
};

const maxPathLength = 200;

const happens = {
  missing: "would be left out",
  added: "would be added",
  changed: "would become another value",
} as const;

/** A difference in a few words: `arguments.cwd would be left out`. The path in it is untrusted text, cut to 200 characters. */
export const describeDifference = ({ path, kind }: JsonDifference): string => {
  const name = path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
  return `${name === "" ? "the whole value" : name} ${happens[kind]}`;
};
