import { isDeepStrictEqual } from "node:util";
import { isRfc3339 } from "@harnesskit/protocol/envelope";
import { isPlainObject } from "@harnesskit/wire/json";

/** Where a value is not what it should be. */
export interface Mismatch {
  /** From the value that was matched, such as `.result.decisions[1]`; empty for the value itself. */
  readonly path: string;
  readonly expected: string;
  readonly found: unknown;
}

/** Matchers that a suite gives a name: `$decision` stands for `named.decision`. */
export type NamedMatchers = Readonly<Record<string, unknown>>;

const simple: Readonly<Record<string, (value: unknown) => boolean>> = {
  $any: (value) => value !== undefined,
  $absent: (value) => value === undefined,
  $none: (value) => value === undefined || value === null,
  $string: (value) => typeof value === "string",
  $text: (value) => typeof value === "string" && value !== "",
  $boolean: (value) => typeof value === "boolean",
  $number: (value) => typeof value === "number",
  $integer: (value) => typeof value === "number" && Number.isInteger(value),
  $object: isPlainObject,
  $array: Array.isArray,
  $time: isRfc3339,
};

/** The names that a suite cannot give to a matcher of its own. */
export const builtInMatchers: readonly string[] = Object.keys(simple).map((name) => name.slice(1));

const show = (value: unknown): string => (value === undefined ? "absent" : JSON.stringify(value));

const firstOf = (mismatches: readonly (Mismatch | undefined)[]): Mismatch | undefined =>
  mismatches.find((mismatch) => mismatch !== undefined);

type Operator = (value: unknown, operand: unknown, at: Matching) => Mismatch | undefined;

interface Matching {
  readonly path: string;
  readonly named: NamedMatchers;
}

const miss = (at: Matching, expected: string, found: unknown): Mismatch => ({
  path: at.path,
  expected,
  found,
});

const listOf = (operand: unknown): readonly unknown[] => (Array.isArray(operand) ? operand : [operand]);

const subsequence: Operator = (value, operand, at) => {
  if (!Array.isArray(value)) return miss(at, "an array", value);
  let next = 0;
  const wanted = listOf(operand);
  for (const element of value) {
    if (next < wanted.length && matchAt(element, wanted[next], at) === undefined) next += 1;
  }
  return next === wanted.length
    ? undefined
    : miss(at, `element ${next + 1} of the order, ${show(wanted[next])}`, value);
};

const range: Operator = (value, operand, at) => {
  const { min = -Infinity, max = Infinity } = operand as { min?: number; max?: number };
  const isIn = typeof value === "number" && value >= min && value <= max;
  return isIn ? undefined : miss(at, `a number from ${min} to ${max}`, value);
};

/** The members of the path `by` of the elements that match `of`. A string is a path in all elements. */
const membersOf = (elements: readonly unknown[], operand: unknown, at: Matching): unknown[] => {
  const { of = "$any", by = String(operand) } = operand as { of?: unknown; by?: string };
  return elements
    .filter((each) => matchAt(each, of, at) === undefined)
    .map((each) => by.split(".").reduce((part, key) => Object(part)[key], each));
};

const operators: Readonly<Record<string, Operator>> = {
  $is: (value, operand, at) =>
    isDeepStrictEqual(value, operand) ? undefined : miss(at, show(operand), value),
  $or: (value, operand, at) =>
    listOf(operand).some((each) => matchAt(value, each, at) === undefined)
      ? undefined
      : miss(at, `one of ${show(operand)}`, value),
  $and: (value, operand, at) => firstOf(listOf(operand).map((each) => matchAt(value, each, at))),
  $not: (value, operand, at) =>
    matchAt(value, operand, at) === undefined ? miss(at, `not ${show(operand)}`, value) : undefined,
  $pattern: (value, operand, at) =>
    typeof value === "string" && new RegExp(String(operand), "u").test(value)
      ? undefined
      : miss(at, `a string that matches ${String(operand)}`, value),
  $each: (value, operand, at) =>
    Array.isArray(value)
      ? firstOf(value.map((each, index) => matchAt(each, operand, { ...at, path: `${at.path}[${index}]` })))
      : miss(at, "an array", value),
  $has: (value, operand, at) =>
    Array.isArray(value) && value.some((each) => matchAt(each, operand, at) === undefined)
      ? undefined
      : miss(at, `an array with ${show(operand)}`, value),
  $length: (value, operand, at) =>
    Array.isArray(value) || typeof value === "string"
      ? matchAt(value.length, operand, { ...at, path: `${at.path}.length` })
      : miss(at, "an array or a string", value),
  $contains: (value, operand, at) =>
    [String(operand), JSON.stringify(String(operand)).slice(1, -1)].some((text) =>
      (JSON.stringify(value) ?? "").includes(text),
    )
      ? undefined
      : miss(at, `something with ${show(operand)}`, value),
  $unique: (value, operand, at) => {
    if (!Array.isArray(value)) return miss(at, "an array", value);
    const keys = operand === true ? value : membersOf(value, operand, at);
    return new Set(keys).size === keys.length ? undefined : miss(at, "elements that differ", keys);
  },
  $joined: (value, operand, at) => {
    if (!Array.isArray(value)) return miss(at, "an array", value);
    const { by, is } = operand as { by: string; is: unknown };
    const text = membersOf(value, operand, at).join("");
    return matchAt(text, is, { ...at, path: `${at.path}, the ${by} of each joined,` });
  },
  $json: (value, operand, at) => matchAt(JSON.stringify(value), operand, at),
  $order: subsequence,
  $range: range,
};

const matchObject = (
  value: unknown,
  matcher: Record<string, unknown>,
  at: Matching,
): Mismatch | undefined => {
  if (!isPlainObject(value)) return miss(at, "an object", value);
  return firstOf(
    Object.entries(matcher).map(([key, wanted]) =>
      matchAt(Object.hasOwn(value, key) ? value[key] : undefined, wanted, {
        ...at,
        path: `${at.path}.${key}`,
      }),
    ),
  );
};

const matchText = (value: unknown, matcher: string, at: Matching): Mismatch | undefined => {
  const test = simple[matcher];
  if (test !== undefined) return test(value) ? undefined : miss(at, matcher.slice(1), value);
  const name = matcher.slice(1);
  if (matcher.startsWith("$") && Object.hasOwn(at.named, name)) return matchAt(value, at.named[name], at);
  return value === matcher ? undefined : miss(at, show(matcher), value);
};

const matchAt = (value: unknown, matcher: unknown, at: Matching): Mismatch | undefined => {
  if (typeof matcher === "string") return matchText(value, matcher, at);
  if (Array.isArray(matcher)) {
    if (!Array.isArray(value) || value.length !== matcher.length)
      return miss(at, `an array of ${matcher.length}`, value);
    return firstOf(
      matcher.map((each, index) => matchAt(value[index], each, { ...at, path: `${at.path}[${index}]` })),
    );
  }
  if (!isPlainObject(matcher))
    return isDeepStrictEqual(value, matcher) ? undefined : miss(at, show(matcher), value);
  const entries = Object.entries(matcher);
  const used = entries.filter(([key]) => operators[key] !== undefined);
  if (used.length === 0) return matchObject(value, matcher as Record<string, unknown>, at);
  return firstOf(used.map(([key, operand]) => operators[key]?.(value, operand, at)));
};

/**
 * Compares a JSON value (undefined: absent) with a matcher: literals are equal, an object has at least the named members,
 * an array as many elements, `$name` stands for a kind of value or a named matcher, and `{ $operator: … }` combines.
 * Returns the first difference, or undefined.
 */
export const match = (value: unknown, matcher: unknown, named: NamedMatchers = {}): Mismatch | undefined =>
  matchAt(value, matcher, { path: "", named });
