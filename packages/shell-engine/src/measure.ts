import { invalidRequest } from "./failure.ts";

/** Adds up what a message holds, and stops where that is too much. */
class Measure {
  #length = 0;
  readonly #maxLength: number;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Its recursion is bounded by `levels`. */
  take(value: unknown, levels: number): void {
    if (typeof value === "string") this.#add(value.length + 2);
    else if (typeof value !== "object" || value === null) this.#add(5);
    else if (levels === 0) {
      throw invalidRequest("The request nests too deeply.", { reason: "too_deep" });
    } else {
      this.#add(2);
      if (Array.isArray(value)) for (const entry of value) this.take(entry, levels - 1);
      else this.#takeFields(value as Readonly<Record<string, unknown>>, levels - 1);
    }
  }

  #takeFields(object: Readonly<Record<string, unknown>>, levels: number): void {
    for (const key in object) {
      this.#add(key.length + 4);
      this.take(object[key], levels);
    }
  }

  #add(length: number): void {
    this.#length += length;
    if (this.#length > this.#maxLength) {
      throw invalidRequest("The request is too large.", { reason: "too_large" });
    }
  }
}

/**
 * Throws `invalid_request` for a message that is larger or deeper than it may be. It is walked once, before anything else
 * looks at it, so that a message that no codec has bounded cannot exhaust the stack.
 */
export const assertMeasure = (
  message: unknown,
  { maxRequestLength, maxDepth }: { readonly maxRequestLength: number; readonly maxDepth: number },
): void => new Measure(maxRequestLength).take(message, maxDepth);
