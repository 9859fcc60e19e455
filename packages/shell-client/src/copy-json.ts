import type { JsonValue } from "@harnesskit/protocol/envelope";

export type CopyProblem = "not_json" | "too_large" | "too_deep";

export interface CopyLimits {
  /** Characters, about as JSON. */
  readonly maxLength: number;
  readonly maxDepth: number;
}

/** Ends a copy from within. */
class Unusable {
  constructor(readonly problem: CopyProblem) {}
}

class Copier {
  #length = 0;
  readonly #limits: CopyLimits;

  constructor(limits: CopyLimits) {
    this.#limits = limits;
  }

  copy(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case "string":
        this.#add(value.length + 2);
        return value;
      case "number":
        this.#add(5);
        return Number.isFinite(value) ? value : null;
      case "boolean":
        this.#add(5);
        return value;
      case "object":
        if (value !== null) return this.#container(value, depth + 1);
        this.#add(5);
        return null;
      default:
        throw new Unusable("not_json");
    }
  }

  #container(value: object, depth: number): JsonValue {
    if (depth > this.#limits.maxDepth) throw new Unusable("too_deep");
    this.#add(2);
    if (Array.isArray(value)) {
      const list: JsonValue[] = [];
      for (const entry of value) list.push(this.copy(entry, depth));
      return Object.freeze(list) as JsonValue[];
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) throw new Unusable("not_json");
    const copy: Record<string, JsonValue> = {};
    for (const key of Object.keys(value)) {
      const entry = (value as Record<string, unknown>)[key];
      if (entry === undefined || key === "__proto__") continue;
      this.#add(key.length + 4);
      copy[key] = this.copy(entry, depth);
    }
    return Object.freeze(copy);
  }

  #add(length: number): void {
    this.#length += length;
    if (this.#length > this.#limits.maxLength) throw new Unusable("too_large");
  }
}

/**
 * A copy of a JSON value that nobody else holds, frozen all the way down. Each field is read once; fields that are undefined
 * and keys `__proto__` are left out. Throws what `toError` makes of the problem, for what is larger or deeper than it may be,
 * and for what is no JSON: a cycle is too deep, and a getter that throws is none.
 */
export const copyJson = <T extends JsonValue>(
  value: unknown,
  limits: CopyLimits,
  toError: (problem: CopyProblem, cause?: unknown) => Error,
): T => {
  try {
    return new Copier(limits).copy(value, 0) as T;
  } catch (cause) {
    throw cause instanceof Unusable ? toError(cause.problem) : toError("not_json", cause);
  }
};
