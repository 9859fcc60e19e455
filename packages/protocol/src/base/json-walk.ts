import type { JsonObject, JsonValue } from "../envelope/json.ts";

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
  /** Bytes of the value as JSON text in UTF-8. @default unlimited */
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
  /** About how many characters its text has: escapes are not counted. No more than bytes in UTF-8. */
  readonly length: number;
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

/** True for an object that is neither null nor an array; use `isPlainObject` where its class matters. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True for an object that a literal or `JSON.parse` made, also in another realm; false for an instance of a class. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
};

const beyondAscii = /[^\0-\x7f]/;

/** How many bytes a string has in UTF-8. A lone surrogate counts as three, as encoders write it. */
export const utf8Length = (text: string): number => {
  let bytes = text.length;
  if (!beyondAscii.test(text)) return bytes;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7ff) bytes += 2;
    else if (unit > 0x7f) bytes += 1;
    const isPair = unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    if (isPair) index++;
  }
  return bytes;
};

const kindOf = (value: unknown): string => {
  if (typeof value === "number") return String(value);
  if (value === undefined) return "undefined";
  return typeof value === "object" ? "an instance of a class" : `a ${typeof value}`;
};

/** Bytes of a text at most, by what it has at the least: six for a UTF-16 unit in `"\\u0000"`, 32 for any number. */
const mostBytes = (least: number, nodes: number): number => 6 * least + 32 * nodes;

class JsonWalk {
  nodes = 0;
  needsCopy = false;
  /** Bytes that the text has at the least. */
  least = 0;
  readonly #options: JsonWalkOptions;
  readonly #maxDepth: number;
  readonly #maxBytes: number;

  constructor(options: JsonWalkOptions) {
    this.#options = options;
    this.#maxDepth = options.maxDepth ?? maxJsonDepth;
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  }

  visit(value: unknown, depth: number): JsonValue {
    this.nodes++;
    switch (typeof value) {
      case "string":
        this.#count(value.length + 2);
        return value;
      case "number":
        if (Number.isFinite(value)) {
          this.#count(1);
          return value;
        }
        if (this.#options.nonFinite !== "null") break;
        this.needsCopy = true;
        this.#count(4);
        return null;
      case "boolean":
        this.#count(4);
        return value;
      case "object":
        if (value === null) {
          this.#count(4);
          return null;
        }
        if (Array.isArray(value)) return this.#list(value, depth + 1);
        if (isPlainObject(value)) return this.#object(value, depth + 1);
    }
    throw new Fault("not_json", `is ${kindOf(value)}, which is not JSON`);
  }

  #list(list: readonly unknown[], depth: number): JsonValue {
    this.#enter(depth);
    const copy: JsonValue[] | undefined = this.#options.copy ? [] : undefined;
    let index = 0;
    try {
      for (; index < list.length; index++) {
        const kept = this.visit(list[index], depth);
        this.#count(1);
        copy?.push(kept);
      }
    } catch (thrown) {
      throw within(thrown, index);
    }
    return this.#finish(copy ?? (list as JsonValue[]));
  }

  #object(object: Readonly<Record<string, unknown>>, depth: number): JsonValue {
    this.#enter(depth);
    const copy: JsonObject | undefined = this.#options.copy ? {} : undefined;
    let at: string | undefined;
    try {
      for (const key of Object.keys(object)) {
        at = key;
        const value = key === "__proto__" ? undefined : object[key];
        if (value === undefined) {
          this.needsCopy = true;
          continue;
        }
        this.#count(key.length + 4);
        const kept = this.visit(value, depth);
        if (copy) copy[key] = kept;
      }
    } catch (thrown) {
      throw at === undefined ? thrown : within(thrown, at);
    }
    return this.#finish(copy ?? (object as JsonObject));
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) throw new Fault("too_deep", `nests deeper than ${this.#maxDepth} levels`);
    // A separator is counted for each entry, and the last one has none.
    this.#count(1);
  }

  #finish<T extends JsonValue>(value: T): T {
    return this.#options.freeze ? Object.freeze(value) : value;
  }

  #count(bytes: number): void {
    this.least += bytes;
    if (this.least > this.#maxBytes) throw exceeds(this.#maxBytes);
  }
}

const exceeds = (maxBytes: number): Fault => new Fault("too_large", `exceeds ${maxBytes} bytes as JSON`);

/** A fault of an entry, with its key; what a getter or a proxy threw becomes one. */
const within = (thrown: unknown, key: string | number): Fault => {
  const fault = thrown instanceof Fault ? thrown : new Fault("not_json", "cannot be read", thrown);
  fault.keys.unshift(key);
  return fault;
};

/** What {@link walkJson} found: the result, or the problem. */
export type JsonWalked =
  | { readonly result: JsonWalkResult; readonly problem?: undefined }
  | { readonly result?: undefined; readonly problem: JsonProblem };

/**
 * The one walk over JSON values: checks, copies and freezes, within bounds. Never throws, whatever the value does when it is
 * read.
 *
 * - A property that is undefined is absent; keys that are symbols and inherited properties are ignored; a key
 *   `__proto__` is left out of the copy.
 * - `not_json`: undefined in an array (also a gap in it) or as the value, NaN, an infinity, a bigint, a symbol, a
 *   function (so also an own `toJSON`), and an instance of a class (Date, Map, bytes), whose JSON is not what it holds.
 * - Where a getter or a proxy throws, the value is `not_json` with the `cause`.
 * - A value that contains itself is `too_deep`; what occurs twice is copied twice.
 */
export const walkJson = (value: unknown, options: JsonWalkOptions = {}): JsonWalked => {
  const { maxBytes = Number.POSITIVE_INFINITY, name = "value" } = options;
  const walk = new JsonWalk(options);
  try {
    const kept = walk.visit(value, 0);
    const { nodes, needsCopy, least } = walk;
    if (mostBytes(least, nodes) > maxBytes && textBytes(kept, needsCopy) > maxBytes) throw exceeds(maxBytes);
    return { result: { value: kept, length: least, nodes, needsCopy } };
  } catch (thrown) {
    const fault = thrown instanceof Fault ? thrown : new Fault("not_json", "cannot be read", thrown);
    const { code, keys, text, cause } = fault;
    const path = keys.reduce<string>(
      (outer, key) => (typeof key === "number" ? `${outer}[${key}]` : `${outer}.${key}`),
      name,
    );
    const problem = { code, path, keys, message: `${path} ${text}` };
    return { problem: cause === undefined ? problem : { ...problem, cause } };
  }
};

/** Exactly, without the keys that a copy leaves out. */
const textBytes = (value: JsonValue, needsCopy: boolean): number =>
  utf8Length(needsCopy ? JSON.stringify(value, withoutProto) : JSON.stringify(value));

const withoutProto = (key: string, value: unknown): unknown => (key === "__proto__" ? undefined : value);
