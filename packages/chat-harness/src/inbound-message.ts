import { type ChatMessage, chatMessageProblem } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { copyJson, isObject, JsonError } from "@harnesskit/wire/json";

/** A copy that the caller cannot change any more, or why the value is refused. */
export type Copied<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string };

/** Copies a JSON object from outside. Never throws. */
export const copyObject = (value: unknown, name: string, maxBytes: number): Copied<JsonObject> => {
  try {
    const copy = copyJson(value, { name, maxBytes });
    return isObject(copy) ? { value: copy as JsonObject } : { problem: `${name}: expected an object` };
  } catch (error) {
    return { problem: JsonError.isInstance(error) ? error.message : `${name} cannot be read` };
  }
};

/**
 * Checks a message from outside and copies it (section "Message validation"): its role, the shape of the role, its blocks, its
 * size and depth. Never throws.
 */
export const takeMessage = (value: unknown, maxBytes: number): Copied<ChatMessage> => {
  const copied = copyObject(value, "message", maxBytes);
  if (copied.problem !== undefined) return copied;
  const problem = chatMessageProblem(copied.value);
  return problem === undefined ? { value: copied.value as unknown as ChatMessage } : { problem };
};
