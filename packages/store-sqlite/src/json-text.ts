import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { corrupt } from "./sqlite-store-error.ts";

/** How deep a value may be nested. */
const maxDepth = 1000;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Turns values into JSON, and notices what will not come back as it was. */
export class JsonWriter {
  /** False once something was written that is read as something else: -0, and properties that are undefined. */
  isExact = true;

  /** The text of a value. Throws `invalid_argument` for what JSON cannot keep, naming it. */
  text(value: unknown, name: string): string {
    this.#check(value, name, 0);
    return JSON.stringify(value);
  }

  #check(value: unknown, name: string, depth: number): void {
    switch (typeof value) {
      case "string":
      case "boolean":
        return;
      case "number":
        if (!Number.isFinite(value)) throw this.#refusal(name, `${value}`);
        if (Object.is(value, -0)) this.isExact = false;
        return;
      case "object":
        if (value !== null) this.#checkObject(value, name, depth);
        return;
      default:
        throw this.#refusal(name, value === undefined ? "undefined" : `a ${typeof value}`);
    }
  }

  #checkObject(value: object, name: string, depth: number): void {
    if (depth > maxDepth) throw this.#refusal(name, `nested deeper than ${maxDepth}`);
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) this.#check(value[index], name, depth + 1);
      return;
    }
    if (!isPlain(value) || typeof (value as { toJSON?: unknown }).toJSON === "function") {
      throw this.#refusal(name, "an object of a class");
    }
    for (const key of Object.keys(value)) {
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined) this.isExact = false;
      else this.#check(item, name, depth + 1);
    }
  }

  #refusal(name: string, what: string): InvalidArgumentError {
    return new InvalidArgumentError(`${name} cannot be stored: ${what} is no JSON`);
  }
}

/** Freezes what `JSON.parse` gave, at any depth. */
const freezeParsed = (value: unknown): void => {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    Object.freeze(next);
    for (const item of Object.values(next)) if (typeof item === "object" && item !== null) open.push(item);
  }
};

/** The value of a text that was stored, deeply frozen. Throws `corrupt`. */
export const readJson = (text: unknown): JsonValue => {
  if (typeof text !== "string") throw corrupt("a value is missing");
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw corrupt("a value is no JSON", cause);
  }
  freezeParsed(value);
  return value;
};
