import type { JsonValue } from "./json.ts";

/** How many levels of arrays and objects a JSON value may have: `[]` and `{}` have one. */
export const maxJsonDepth = 64;

/**
 * The same for a whole message or record, which holds such values: up to 16 levels of envelope around them, so that
 * every value that a role accepts also fits the wire and the stores.
 */
export const maxMessageDepth = maxJsonDepth + 16;

export interface JsonWalkOptions {
  /** Levels of arrays and objects. @default 64 */
  readonly maxDepth?: number | undefined;
  /** Bytes of the value as JSON text in UTF-8, which the walk counts exactly. @default unlimited */
  readonly maxBytes?: number | undefined;
  /** What the value is called in paths. @default "value" */
  readonly name?: string | undefined;
  /** Make a copy that shares nothing with the value. @default false */
  readonly copy?: boolean | undefined;
  /** What a NaN or an infinity is: `JSON.parse` makes one of `1e400`, and `JSON.stringify` writes null. @default "refuse" */
  readonly nonFinite?: "refuse" | "null" | undefined;
  /** Freeze the copy, or the value itself where there is no copy. @default false */
  readonly freeze?: boolean | undefined;
}

/** Why a value was refused. */
export interface JsonProblem {
  readonly code: "not_json" | "too_deep" | "too_large";
  /** Where, such as `value.items[0]`. Keys in it are untrusted text. */
  readonly path: string;
  /** The same as keys and indices. */
  readonly keys: readonly (string | number)[];
  readonly message: string;
  /** What a getter or a proxy threw. */
  readonly cause?: unknown;
}

export interface JsonWalkResult {
  /** The copy, or the value itself. */
  readonly value: JsonValue;
  /** Of the value as JSON text, in UTF-8. */
  readonly bytes: number;
  /** Values in it, itself included. */
  readonly nodes: number;
  /** Whether a copy differs from the value: it has a key `__proto__`, an undefined property or a number that is not finite. */
  readonly needsCopy: boolean;
}

/** Ends a walk from within. The keys are collected while the recursion unwinds. */
class Fault {
  readonly keys: (string | number)[] = [];

  constructor(
    readonly code: JsonProblem["code"],
    readonly text: string,
    readonly cause?: unknown,
  ) {}
}

/** True for an object that a literal or `JSON.parse` made, also in another realm; false for an instance of a class. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** How many bytes a string has in UTF-8. A lone surrogate counts as three, as encoders write it. */
export const utf8Length = (text: string): number => {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7ff) bytes += 2;
    else if (unit > 0x7f) bytes += 1;
    const isPair = unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    if (isPair) index++;
  }
  return bytes;
};

const needsEscapeOrMoreBytes = /[^\x20\x21\x23-\x5b\x5d-\x7f]/;

const stringBytes = (text: string): number =>
  needsEscapeOrMoreBytes.test(text) ? utf8Length(JSON.stringify(text)) : text.length + 2;

const kindOf = (value: unknown): string => {
  if (typeof value === "number") return String(value);
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an instance of a class" : `a ${typeof value}`;
};

/** Bytes that a UTF-16 unit takes at most: six in `"\\u0000"`. */
const maxUnitBytes = 6;
/** Bytes that any number takes at most, and what stands around a key or an entry. */
const maxNumberBytes = 32;

/**
 * Bytes that a value of at most so many levels certainly does not exceed as JSON. Infinity where that is more than `maxBytes`, and where the
 * walk would find something to refuse or to leave out, as in hardly any value. Much cheaper than the walk. Throws what
 * a getter or a proxy throws.
 */
export const cleanBound = (value: unknown, maxDepth: number, maxBytes = Number.POSITIVE_INFINITY): number => {
  const bound = boundOf(value, maxDepth, maxBytes);
  return bound > maxBytes ? Number.POSITIVE_INFINITY : bound;
};

/** Ends where the bound is passed, and at the first value that has none: one that holds itself twice has no end. */
const boundOf = (value: unknown, levels: number, max: number): number => {
  switch (typeof value) {
    case "string":
      return value.length * maxUnitBytes + 2;
    case "boolean":
      return 5;
    case "number":
      return Number.isFinite(value) ? maxNumberBytes : Number.POSITIVE_INFINITY;
    case "object":
      break;
    default:
      return Number.POSITIVE_INFINITY;
  }
  if (value === null) return 4;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  let bound = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && isOpen(bound, max); index++) {
      bound += 1 + boundOf(value[index], levels - 1, max - bound);
    }
    return bound;
  }
  if (!isPlainObject(value)) return Number.POSITIVE_INFINITY;
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return Number.POSITIVE_INFINITY;
    if (!isOpen(bound, max)) return bound;
    bound += key.length * maxUnitBytes + 4 + boundOf(value[key], levels - 1, max - bound);
  }
  return bound;
};

const isOpen = (bound: number, max: number): boolean => bound <= max && bound < Number.POSITIVE_INFINITY;

class JsonWalk {
  bytes = 0;
  nodes = 0;
  needsCopy = false;
  readonly #maxDepth: number;
  readonly #maxBytes: number;
  readonly #copy: boolean;
  readonly #freeze: boolean;
  readonly #takesNonFinite: boolean;

  constructor(options: JsonWalkOptions) {
    this.#maxDepth = options.maxDepth ?? maxJsonDepth;
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    this.#copy = options.copy ?? false;
    this.#freeze = options.freeze ?? false;
    this.#takesNonFinite = options.nonFinite === "null";
  }

  visit(value: unknown, depth: number): JsonValue {
    this.nodes++;
    switch (typeof value) {
      case "string":
        // Nothing is counted of a string that is too long in any case.
        this.#add(value.length > this.#maxBytes ? value.length : stringBytes(value));
        return value;
      case "number":
        if (Number.isFinite(value)) {
          this.#add(String(value).length);
          return value;
        }
        if (!this.#takesNonFinite) break;
        this.needsCopy = true;
        this.#add(4);
        return null;
      case "boolean":
        this.#add(value ? 4 : 5);
        return value;
      case "object":
        if (value === null) {
          this.#add(4);
          return null;
        }
        if (Array.isArray(value)) return this.#list(value, depth + 1);
        if (isPlainObject(value)) return this.#object(value, depth + 1);
    }
    throw new Fault("not_json", `is ${kindOf(value)}, which is not JSON`);
  }

  #list(list: readonly unknown[], depth: number): JsonValue {
    this.#enter(depth);
    const copy: JsonValue[] = [];
    for (let index = 0; index < list.length; index++) {
      if (index > 0) this.#add(1);
      const kept = this.#entry(list[index], index, depth);
      if (this.#copy) copy.push(kept);
    }
    return this.#finish(list, copy);
  }

  #object(object: Readonly<Record<string, unknown>>, depth: number): JsonValue {
    this.#enter(depth);
    const copy: Record<string, JsonValue> = {};
    let isFirst = true;
    for (const key of Object.keys(object)) {
      if (key === "__proto__") {
        this.needsCopy = true;
        continue;
      }
      const value = this.#read(object, key);
      if (value === undefined) {
        this.needsCopy = true;
        continue;
      }
      this.#add(stringBytes(key) + (isFirst ? 1 : 2));
      isFirst = false;
      const kept = this.#entry(value, key, depth);
      if (this.#copy) copy[key] = kept;
    }
    return this.#finish(object, copy);
  }

  #read(object: Readonly<Record<string, unknown>>, key: string): unknown {
    try {
      return object[key];
    } catch (cause) {
      throw new Fault("not_json", "cannot be read", cause);
    }
  }

  #entry(value: unknown, key: string | number, depth: number): JsonValue {
    try {
      return this.visit(value, depth);
    } catch (fault) {
      if (fault instanceof Fault) fault.keys.unshift(key);
      throw fault;
    }
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) throw new Fault("too_deep", `nests deeper than ${this.#maxDepth} levels`);
    this.#add(2);
  }

  #finish(value: object, copy: JsonValue): JsonValue {
    const result = this.#copy ? copy : (value as JsonValue);
    if (this.#freeze) Object.freeze(result);
    return result;
  }

  #add(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#maxBytes) throw new Fault("too_large", `exceeds ${this.#maxBytes} bytes as JSON`);
  }
}

/** What {@link walkJson} found: the result, or the problem. */
export type JsonWalked =
  | { readonly result: JsonWalkResult; readonly problem?: undefined }
  | { readonly result?: undefined; readonly problem: JsonProblem };

/**
 * The one walk over JSON values: checks, measures, copies and freezes, within bounds. Never throws, whatever the value
 * does when it is read.
 *
 * - A property that is undefined is absent; keys that are symbols and inherited properties are ignored; a key
 *   `__proto__` is left out of the copy.
 * - `not_json`: undefined in an array (also a gap in it) or as the value, NaN, an infinity, a bigint, a symbol, a
 *   function (so also an own `toJSON`), and an instance of a class (Date, Map, bytes), whose JSON is not what it holds.
 * - A getter is called once; where it or a proxy throws, the value is `not_json` with the `cause`.
 * - A value that contains itself is `too_deep`; what occurs twice is copied twice.
 */
export const walkJson = (value: unknown, options: JsonWalkOptions = {}): JsonWalked => {
  const walk = new JsonWalk(options);
  try {
    const result = walk.visit(value, 0);
    return { result: { value: result, bytes: walk.bytes, nodes: walk.nodes, needsCopy: walk.needsCopy } };
  } catch (thrown) {
    const fault = thrown instanceof Fault ? thrown : new Fault("not_json", "cannot be read", thrown);
    const { code, keys, text, cause } = fault;
    const path = keys.reduce<string>(
      (outer, key) => (typeof key === "number" ? `${outer}[${key}]` : `${outer}.${key}`),
      options.name ?? "value",
    );
    const problem = { code, path, keys, message: `${path} ${text}` };
    return { problem: cause === undefined ? problem : { ...problem, cause } };
  }
};
