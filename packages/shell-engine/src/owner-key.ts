import type { ShellAuth } from "@harnesskit/protocol/openharness";
import { canonicalJson } from "@harnesskit/wire";

const part = (text: string): string => `${text.length}:${text}`;

/** A text that is the same for the same principal. Throws `invalid_argument` for a principal that has no JSON. */
const principalKey = (principal: unknown): string => {
  if (principal === undefined) return "";
  if (typeof principal === "string") return `"${principal}`;
  if (!isFrozen(principal)) return canonicalJson(principal);
  const known = keys.get(principal) ?? canonicalJson(principal);
  keys.set(principal, known);
  return known;
};

/** Keys of principals that are the same object each time, as a transport's may be. */
const keys = new WeakMap<object, string>();

/** Whether an object cannot change: it holds no other one. */
const isFrozen = (value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  Object.isFrozen(value) &&
  Object.values(value).every((field) => typeof field !== "object" || field === null);

/**
 * Whose a request is. Where nothing has checked the references in `auth`, they tell requests of one principal apart and
 * never join those of two.
 */
export const ownerKey = (principal: unknown, unchecked: ShellAuth | undefined): string => {
  const own = principalKey(principal);
  if (unchecked?.tenant_id === undefined && unchecked?.credential_ref === undefined) return own;
  return `${part(own)}${part(unchecked.tenant_id ?? "")}${part(unchecked.credential_ref ?? "")}`;
};

/** One text for an owner, a session and a thread of it, different for every three. */
export const conversationKey = (owner: string, session: string, conversation: string | undefined): string =>
  `${part(owner)}${part(session)}${conversation === undefined ? "" : part(conversation)}`;
