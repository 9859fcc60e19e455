import { canonicalJson } from "@harnesskit/wire";

/** Keys of principals that cannot change, such as the one that every request with the server's token has. */
const keys = new WeakMap<object, string>();

const canChange = (principal: object): boolean =>
  !Object.isFrozen(principal) ||
  Object.values(principal).some((value) => typeof value === "object" && value !== null);

const objectKey = (principal: object): string => {
  const known = keys.get(principal);
  if (known !== undefined) return known;
  const key = canonicalJson(principal);
  if (!canChange(principal)) keys.set(principal, key);
  return key;
};

/** The owner of what came without a credential. */
export const noOwner = "";

/**
 * A text that is the same for the same principal: for the same text, or for objects with the same JSON. Throws
 * `invalid_argument` for a principal that has no JSON.
 */
export const ownerKey = (principal: unknown): string => {
  if (principal === undefined) return noOwner;
  if (typeof principal === "string") return `"${principal}`;
  return typeof principal === "object" && principal !== null
    ? objectKey(principal)
    : canonicalJson(principal);
};

/** One text for an owner and one of its sessions, different for every pair. */
export const sessionKey = (owner: string, sessionId: string): string =>
  `${owner.length}:${owner}${sessionId}`;
