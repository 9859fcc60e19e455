import { isRfc3339 } from "@harnesskit/protocol/envelope";
import type {
  AgentHeartbeat,
  AgentToolResult,
  AgentToolStream,
  RuntimeError,
} from "@harnesskit/protocol/runtime";
import { isObject, measureJson } from "./measure-json.ts";

/*
 * Checks of the messages that come with every call and every heartbeat, by hand because they are hot. They accept
 * exactly what the schemas of the protocol package accept; a test holds them against each other.
 */

export const isId = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= 256;

const isIdOrAbsent = (value: unknown): boolean => value === undefined || isId(value);

let lastTime: unknown;

/** Messages of one millisecond share their times, so the last one that was found to be one is known. */
const isTime = (value: unknown): boolean => {
  if (value === lastTime) return true;
  if (!isRfc3339(value)) return false;
  lastTime = value;
  return true;
};

const isJsonObject = (value: unknown): boolean => isObject(value) && measureJson(value) !== undefined;

const isActor = (value: unknown): boolean =>
  isObject(value) &&
  (value.type === "human" || value.type === "agent" || value.type === "system") &&
  isId(value.id) &&
  (value.display === undefined || typeof value.display === "string");

/** Whether it is a `RuntimeError` as the protocol's schema has it. */
export const isRuntimeError = (value: unknown): value is RuntimeError =>
  isObject(value) &&
  isId(value.code) &&
  typeof value.message === "string" &&
  (value.details === undefined || isJsonObject(value.details)) &&
  (value.retryable === undefined || typeof value.retryable === "boolean") &&
  (value.where === undefined || typeof value.where === "string") &&
  (value.debug === undefined || isJsonObject(value.debug));

/** Whether the fields beside `v`, `type` and `payload` are those of an envelope. */
export const hasEnvelope = (message: Record<string, unknown>): boolean =>
  isId(message.id) &&
  isTime(message.ts) &&
  isIdOrAbsent(message.in_reply_to) &&
  isIdOrAbsent(message.request_id) &&
  isIdOrAbsent(message.correlation_id) &&
  isIdOrAbsent(message.causation_id) &&
  (message.actor === undefined || isActor(message.actor)) &&
  (message.error === undefined || isRuntimeError(message.error));

/** Whether a message with `v` 1 and this type is an `agent.tool.result`. */
export const isToolResult = (
  message: Record<string, unknown>,
): message is Record<string, unknown> & AgentToolResult => {
  const { payload } = message;
  if (!hasEnvelope(message) || !isObject(payload)) return false;
  const { status } = payload;
  return (
    isId(payload.call_id) &&
    (status === "succeeded" || status === "failed" || status === "canceled") &&
    (payload.output === undefined || isJsonObject(payload.output)) &&
    (payload.error === undefined || isRuntimeError(payload.error)) &&
    (payload.started_at === undefined || isTime(payload.started_at)) &&
    (payload.finished_at === undefined || isTime(payload.finished_at)) &&
    (payload.metrics === undefined || isJsonObject(payload.metrics))
  );
};

const textChannels: ReadonlySet<unknown> = new Set(["stdout", "stderr", "log", "status"]);

/** Whether a message with `v` 1 and this type is an `agent.tool.stream`. */
export const isToolStream = (
  message: Record<string, unknown>,
): message is Record<string, unknown> & AgentToolStream => {
  const { payload } = message;
  if (!hasEnvelope(message) || !isObject(payload)) return false;
  const { channel, data, seq, done } = payload;
  if (!isId(payload.call_id) || !isObject(data)) return false;
  if (!Number.isSafeInteger(seq) || (seq as number) < 1) return false;
  if (done !== undefined && typeof done !== "boolean") return false;
  if (channel === "partial_result") return isJsonObject(data.json);
  return textChannels.has(channel) && typeof data.text === "string";
};

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether a message with `v` 1 and this type is an `agent.heartbeat`. */
export const isHeartbeat = (
  message: Record<string, unknown>,
): message is Record<string, unknown> & AgentHeartbeat => {
  const { payload } = message;
  if (!hasEnvelope(message) || !isObject(payload)) return false;
  const { status } = payload;
  return (
    isId(payload.session_id) &&
    isCount(payload.uptime_ms) &&
    isCount(payload.inflight_calls) &&
    (status === "ok" || status === "degraded" || status === "unhealthy") &&
    (payload.details === undefined || isJsonObject(payload.details))
  );
};
