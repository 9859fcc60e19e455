import { canonicalJson } from "./json/canonical-json.ts";

/** The key of callers without a credential. */
export const noPrincipalKey = "";

/**
 * A string that is the same for the same principal: for the same string, or for values with the same JSON. Throws
 * `invalid_argument` for a principal that has no JSON.
 */
export const principalKey = (principal: unknown): string => {
  if (principal === undefined) return noPrincipalKey;
  if (typeof principal === "string") return `"${principal}`;
  return canonicalJson(principal);
};

/** Joins strings so that different lists never give the same key. */
export const joinKey = (...parts: readonly string[]): string =>
  parts.map((part) => `${part.length}:${part}`).join("");
