import { canonicalJson } from "@harnesskit/wire";

/**
 * A text that is the same for the same principal: for the same text, or for objects with the same JSON. Throws
 * `invalid_argument` for a principal that has no JSON.
 */
export const ownerKey = (principal: unknown): string => {
  if (principal === undefined) return "";
  return typeof principal === "string" ? `"${principal}` : canonicalJson(principal);
};

/** One text for an owner and one of its sessions, different for every pair. */
export const sessionKey = (owner: string, sessionId: string): string =>
  `${owner.length}:${owner}${sessionId}`;
