/** What {@link measureJson} found out. */
export interface JsonMeasure {
  /** At least as many bytes as the value has as JSON. */
  bytes: number;
  /** Values in it, itself included. */
  nodes: number;
}

const maxDepth = 60;
const scratch: JsonMeasure = { bytes: 0, nodes: 0 };

/** False where the value or something in it is no JSON, or nests too deeply. Adds up in `scratch`. */
const walk = (value: unknown, depth: number): boolean => {
  scratch.nodes++;
  switch (typeof value) {
    case "string":
      // The worst case: each unit is written as an escape of six bytes.
      scratch.bytes += 6 * value.length + 2;
      return true;
    case "number":
      scratch.bytes += 25;
      return Number.isFinite(value);
    case "boolean":
      scratch.bytes += 5;
      return true;
    case "object":
      break;
    default:
      return false;
  }
  scratch.bytes += 4;
  if (value === null) return true;
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) {
    for (const entry of value) {
      scratch.bytes += 1;
      if (!walk(entry, depth + 1)) return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) {
    const entry = (value as Record<string, unknown>)[key];
    if (entry === undefined) continue;
    scratch.bytes += 6 * key.length + 4;
    if (!walk(entry, depth + 1)) return false;
  }
  return true;
};

/**
 * Walks a JSON value once: its number of values, and an upper bound of its bytes that needs no text of it. Undefined
 * when it is no JSON (a function, a Date, NaN, a cycle) or nests deeper than 60 levels. The result is valid until the
 * next call.
 */
export const measureJson = (value: unknown): Readonly<JsonMeasure> | undefined => {
  scratch.bytes = 0;
  scratch.nodes = 0;
  return walk(value, 0) ? scratch : undefined;
};

/** Whether the value, which is JSON, is larger than `maxBytes` as text. Writes it out only when the bound does not tell. */
export const exceedsBytes = (value: unknown, boundBytes: number, maxBytes: number): boolean =>
  boundBytes > maxBytes && new TextEncoder().encode(JSON.stringify(value)).length > maxBytes;

/** True for an object that is neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
