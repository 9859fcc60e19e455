import { isObject } from "../base/json-walk.ts";
import { isCleanJson } from "../envelope/json.ts";
import { isRfc3339 } from "../rfc3339.ts";
import type { AgentToolResult, CoreToolCall } from "./calls.ts";
import { RUNTIME_PROTOCOL_VERSION } from "./limits.ts";

/*
 * The two messages of each call, read without their schemas where they have no rare field: a schema costs as much as the
 * rest of a call's way through one side. What these functions do not take may still be valid; its schema says.
 */

type Fields = Record<string, unknown>;

const isId = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= 256;

const isIdOrAbsent = (value: unknown): boolean => value === undefined || isId(value);

const isCleanObject = (value: unknown): boolean => isObject(value) && isCleanJson(value);

const isUsual = (message: Fields, type: string): boolean =>
  message.v === RUNTIME_PROTOCOL_VERSION &&
  message.type === type &&
  isId(message.id) &&
  isRfc3339(message.ts) &&
  isIdOrAbsent(message.in_reply_to) &&
  isIdOrAbsent(message.request_id) &&
  isIdOrAbsent(message.correlation_id) &&
  isIdOrAbsent(message.causation_id) &&
  message.actor === undefined &&
  message.error === undefined &&
  isObject(message.payload);

/** Whether a message, read by `JSON.parse`, is surely a `core.tool.call`. Fields that the schema leaves out are still in it. */
export const isUsualCall = (message: unknown): message is CoreToolCall => {
  if (!isObject(message) || !isUsual(message, "core.tool.call") || message.request_id === undefined)
    return false;
  const { call_id, tool_id, input, timeout_ms, idempotency_key, caller, context } = message.payload as Fields;
  return (
    isId(call_id) &&
    typeof tool_id === "string" &&
    tool_id.length <= 257 &&
    (timeout_ms === undefined || (Number.isSafeInteger(timeout_ms) && (timeout_ms as number) > 0)) &&
    isIdOrAbsent(idempotency_key) &&
    caller === undefined &&
    context === undefined &&
    isCleanObject(input)
  );
};

/** Whether a message, read by `JSON.parse`, is surely the `agent.tool.result` of a call that succeeded. Fields that the schema leaves out are still in it. */
export const isUsualResult = (message: unknown): message is AgentToolResult => {
  if (!isObject(message) || !isUsual(message, "agent.tool.result")) return false;
  const { call_id, status, output, error, started_at, finished_at, metrics } = message.payload as Fields;
  return (
    isId(call_id) &&
    status === "succeeded" &&
    error === undefined &&
    (started_at === undefined || isRfc3339(started_at)) &&
    (finished_at === undefined || isRfc3339(finished_at)) &&
    (metrics === undefined || isCleanObject(metrics)) &&
    (output === undefined || isCleanObject(output))
  );
};
