import { JsonObjectSchema } from "@harnesskit/protocol/envelope";
import type { CoreToolCall } from "@harnesskit/protocol/runtime";
import { isJsonObject } from "./json-size.ts";

/** The form in which times are usually written; the others are left to the schema. */
const usualTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

const isText = (value: unknown, minLength: number, maxLength: number): value is string =>
  typeof value === "string" && value.length >= minLength && value.length <= maxLength;

const isOptionalId = (value: unknown): boolean => value === undefined || isText(value, 1, 256);

const isCaller = (value: unknown): boolean =>
  isJsonObject(value) &&
  (value.type === "human" || value.type === "agent" || value.type === "system") &&
  isText(value.id, 1, 256);

const isPayload = (payload: unknown): boolean =>
  isJsonObject(payload) &&
  isText(payload.call_id, 1, 256) &&
  isText(payload.tool_id, 0, 257) &&
  (payload.timeout_ms === undefined ||
    (Number.isSafeInteger(payload.timeout_ms) && (payload.timeout_ms as number) > 0)) &&
  (payload.idempotency_key === undefined || isText(payload.idempotency_key, 1, 256)) &&
  (payload.caller === undefined || isCaller(payload.caller)) &&
  payload.context === undefined;

const isUsualCall = (message: unknown): message is CoreToolCall =>
  isJsonObject(message) &&
  message.type === "core.tool.call" &&
  message.v === 1 &&
  isText(message.id, 1, 256) &&
  isText(message.ts, 20, 64) &&
  usualTime.test(message.ts) &&
  isText(message.request_id, 1, 256) &&
  isOptionalId(message.in_reply_to) &&
  isOptionalId(message.correlation_id) &&
  isOptionalId(message.causation_id) &&
  message.actor === undefined &&
  message.error === undefined &&
  isPayload(message.payload);

/**
 * A `core.tool.call` of the usual form, read at a fraction of the time that `CoreToolCallSchema` takes; undefined where
 * only the schema can tell. What it gives is what the schema would give, with the unknown fields still in it.
 */
export const readToolCall = (message: unknown): CoreToolCall | undefined => {
  if (!isUsualCall(message)) return undefined;
  const { payload } = message;
  const input = JsonObjectSchema.safeParse(payload.input);
  if (!input.success) return undefined;
  return input.data === payload.input ? message : { ...message, payload: { ...payload, input: input.data } };
};
