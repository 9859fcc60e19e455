import { invalidRequest } from "./failure.ts";

/**
 * Throws `invalid_request` for a message that is larger or deeper than it may be. It is walked once and without recursion,
 * before anything else looks at it, so that a message that no codec has bounded cannot exhaust the stack.
 */
export const assertMeasure = (
  message: unknown,
  limits: { maxRequestLength: number; maxDepth: number },
): void => {
  const { maxRequestLength, maxDepth } = limits;
  let length = 0;
  let level: object[] = [];
  const take = (value: unknown, next: object[]): void => {
    if (typeof value === "string") length += value.length + 2;
    else if (typeof value === "object" && value !== null) next.push(value);
    else length += 5;
  };
  take(message, level);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw invalidRequest("The request nests too deeply.", { reason: "too_deep" });
    const next: object[] = [];
    for (const container of level) {
      length += 2;
      if (Array.isArray(container)) for (const entry of container) take(entry, next);
      else {
        for (const key of Object.keys(container)) {
          length += key.length + 4;
          take((container as Record<string, unknown>)[key], next);
        }
      }
      if (length > maxRequestLength) {
        throw invalidRequest("The request is too large.", { reason: "too_large" });
      }
    }
    level = next;
  }
};
