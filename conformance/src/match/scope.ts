import { isPlainObject } from "@harnesskit/wire/json";
import { Unreached } from "../errors.ts";

/** Numbers from 0 up to 1, the same for the same seed. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** The values that the steps of one scenario name, and what `${…}` in them stands for. */
export interface Scope {
  set(name: string, value: unknown): void;
  /** @throws {Unreached} for a name without a value */
  get(name: string): unknown;
  forget(name: string): void;
  /**
   * A copy of the template with its references replaced: a string that is one reference becomes its value, of any type.
   * `{ $merge: [A, B] }` is the members of A and B, where those of B count, `{ $deep: [A, B] }` at every level; `{ $flat: [A, B] }`
   * the elements of both lists; `{ $repeat: { text, times } }` a long string; `{ $stringify: V }` the JSON text of V;
   * `{ $upper: T }` a text in upper case, `{ $cut: T }` a text without its last character; `{ $found: "${…}" }` a list of that
   * value, empty where there is none; `{ $count: N }` the numbers from 1 to N; `{ $message: A }` the members of the suite's
   * `envelope`, made anew, and of A.
   * @throws {Unreached} for a reference without a value
   */
  resolve(template: unknown): unknown;
}

const reference = /\$\{([^}]+)\}/g;
const wholeReference = /^\$\{([^}]+)\}$/;

const memberOf = (value: unknown, key: string): unknown => {
  if (Array.isArray(value)) return key === "length" ? value.length : value[Number(key)];
  return isPlainObject(value) && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
};

/** A UUID of version 4. */
const uuidOf = (random: () => number): string => {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
};

/** The members of both, at every level; other values of `over` replace those of `base`. */
export const mergeDeep = (base: unknown, over: unknown): unknown => {
  if (!isPlainObject(base) || !isPlainObject(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over))
    merged[key] = Object.hasOwn(base, key) ? mergeDeep(merged[key], value) : value;
  return merged;
};

const builders: Readonly<Record<string, (operand: unknown) => unknown>> = {
  $merge: (parts) => Object.assign({}, ...(parts as object[])),
  $deep: (parts) => (parts as unknown[]).reduce(mergeDeep),
  $flat: (lists) => (lists as unknown[][]).flat(),
  $stringify: (value) => JSON.stringify(value),
  $upper: (text) => String(text).toUpperCase(),
  $cut: (text) => String(text).slice(0, -1),
  $repeat: (what) => {
    const { text, times } = what as { readonly text: string; readonly times: number };
    return text.repeat(times);
  },
  $count: (last) => Array.from({ length: Number(last) }, (_, index) => index + 1),
};

/**
 * Creates a scope. `${random.NAME}` is a string that is the same within the scope, `${uuid}` a new UUID each time, `${now}`
 * the time in RFC 3339, and `${table[case.type]}` the member of a table that another value names.
 *
 * @param values by name; those given later replace them
 * @param envelope what each `$message` has
 */
export const createScope = (
  values: Readonly<Record<string, unknown>>,
  random: () => number,
  envelope: Readonly<Record<string, unknown>> = {},
): Scope => {
  const known = new Map<string, unknown>();
  const randomText = (path: string): string => {
    const text =
      known.get(path) ?? `${path.slice("random.".length)}-${Math.floor(random() * 2 ** 40).toString(36)}`;
    known.set(path, text);
    return text as string;
  };
  const lookUp = (path: string): unknown => {
    if (path === "now") return new Date().toISOString();
    if (path === "uuid") return uuidOf(random);
    if (path.startsWith("random.")) return randomText(path);
    const direct = path.replace(
      /\[([^\]]+)\]/g,
      (_, inner: string) => `.${/^\d+$/.test(inner) ? inner : String(lookUp(inner))}`,
    );
    const [name = "", ...keys] = direct.split(".");
    const value = keys.reduce(memberOf, known.get(name));
    if (value === undefined) throw new Unreached(name, path);
    return value;
  };
  const found = (operand: unknown): unknown[] => {
    try {
      return [resolve(operand)];
    } catch (error) {
      if (Unreached.isInstance(error)) return [];
      throw error;
    }
  };
  const resolve = (template: unknown): unknown => {
    if (typeof template === "string") {
      const whole = wholeReference.exec(template)?.[1];
      if (whole !== undefined) return lookUp(whole);
      return template.replace(reference, (_, path: string) => {
        const value = lookUp(path);
        return typeof value === "string" ? value : JSON.stringify(value);
      });
    }
    if (Array.isArray(template)) return template.map(resolve);
    if (!isPlainObject(template)) return template;
    const [[key = "", operand] = []] = Object.entries(template);
    if (key === "$message") return { ...(resolve(envelope) as object), ...(resolve(operand) as object) };
    if (key === "$found") return found(operand);
    const build = builders[key];
    if (build !== undefined) return build(resolve(operand));
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, resolve(value)]));
  };
  for (const [name, value] of Object.entries(values)) known.set(name, resolve(value));
  return {
    set: (name, value) => void known.set(name, value),
    get: lookUp,
    forget: (name) => void known.delete(name),
    resolve,
  };
};
