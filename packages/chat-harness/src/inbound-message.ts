import { type ChatMessage, chatMessageProblem } from "@harnesskit/protocol/chat";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { messageOf } from "./warning.ts";

export interface CopyLimits {
  /** How many characters there may be, keys included. */
  readonly maxLength: number;
}

/** How deep a value may be nested. */
const maxDepth = 200;

/** Why a value cannot be taken. */
class CopyFault {
  constructor(readonly message: string) {}
}

const copy = (value: unknown, path: string, depth: number, budget: { left: number }): JsonValue => {
  budget.left -= typeof value === "string" ? value.length : 1;
  if (budget.left < 0) throw new CopyFault("it is too long");
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") throw new CopyFault(`${path} is no JSON`);
  if (depth >= maxDepth) throw new CopyFault(`it is nested deeper than ${maxDepth}`);
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, index) => copy(item, `${path}[${index}]`, depth + 1, budget));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new CopyFault(`${path} is no plain object`);
  const own: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined || key === "__proto__") continue;
    budget.left -= key.length;
    own[key] = copy(item, `${path}.${key}`, depth + 1, budget);
  }
  return own;
};

/** A copy of a JSON object that its caller cannot change any more, or the reason why it cannot be taken. */
export type Copied<T> = { readonly value: T; readonly problem?: undefined } | { readonly problem: string };

/** Copies a value that has to be a JSON object. Never throws, whatever the value does when it is looked at. */
export const copyJsonObject = (
  value: unknown,
  name: string,
  { maxLength }: CopyLimits,
): Copied<JsonObject> => {
  try {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { problem: `${name}: expected an object` };
    }
    return { value: copy(value, name, 0, { left: maxLength }) as JsonObject };
  } catch (fault) {
    if (fault instanceof CopyFault) return { problem: `${name}: ${fault.message}` };
    return { problem: `${name}: it cannot be read: ${messageOf(fault)}` };
  }
};

/**
 * Checks a message as it comes from outside and copies it (section "Message validation"): the role, the shape of the role, the
 * validity of blocks, its length and depth. Never throws.
 */
export const takeMessage = (value: unknown, limits: CopyLimits): Copied<ChatMessage> => {
  const copied = copyJsonObject(value, "message", limits);
  if (copied.problem !== undefined) return copied;
  const problem = chatMessageProblem(copied.value);
  return problem === undefined ? { value: copied.value as unknown as ChatMessage } : { problem };
};
