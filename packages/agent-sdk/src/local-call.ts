import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type AgentToolStream,
  type CallContext,
  type CoreToolCall,
  RUNTIME_PROTOCOL_VERSION,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { callSafely, createDeferred } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { isoTime } from "@harnesskit/wire/time";
import { ToolError } from "@harnesskit/wire/tool";
import type { AgentCore } from "./agent-core.ts";
import { Outbox, type OutgoingMessage } from "./outbox.ts";
import { misfit, runtimeError } from "./runtime-error.ts";
import { type ResultPayload, SessionCalls } from "./session-calls.ts";

export interface LocalCallOptions {
  /** Cancels the call: it fails with `tool.canceled`, at the latest after the grace. */
  readonly signal?: AbortSignal | undefined;
  /** @default none */
  readonly timeoutMs?: number | undefined;
  /** Receives each stream message as a core would. */
  readonly onStream?: ((payload: AgentToolStream["payload"]) => void) | undefined;
  readonly correlationId?: string | undefined;
  readonly context?: CallContext | undefined;
}

const { Canceled, Failed, InvalidInput } = RuntimeErrorCode;

const toolError = (
  { code, message, details, retryable } = runtimeError(Failed, "the tool failed"),
): ToolError => new ToolError(code, message, { details, retryable });

const copyOf = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

/** Runs one call as a core would have it run: the same messages, on a channel that leads back here. */
export const callLocally = async (
  core: AgentCore,
  name: string,
  input: unknown,
  { signal, onStream, timeoutMs, correlationId, context }: LocalCallOptions,
): Promise<JsonObject | undefined> => {
  if (!isObject(input)) {
    throw toolError(misfit(InvalidInput, [{ path: "", problem: "type", expected: "object" }]));
  }
  const tool_id = core.tools.idOf(name);
  await core.tools.byId(tool_id)?.load();
  const call_id = randomUUID();
  const message: CoreToolCall = {
    v: RUNTIME_PROTOCOL_VERSION,
    type: "core.tool.call",
    id: call_id,
    ts: isoTime(core.clock.now()),
    request_id: randomUUID(),
    correlation_id: correlationId,
    payload: { call_id, tool_id, input: copyOf(input), timeout_ms: timeoutMs, context },
  };
  const ended = createDeferred<ResultPayload>();
  const send = async (sent: unknown): Promise<void> => {
    const { type, payload } = sent as OutgoingMessage;
    if (type === "agent.tool.stream") callSafely(() => onStream?.(payload as AgentToolStream["payload"]));
    else if (type === "agent.tool.result") ended.resolve(payload as ResultPayload);
  };
  const outbox = new Outbox({ send, close: async () => {} }, core.limits, core.clock);
  const calls = new SessionCalls(core, outbox, Number.POSITIVE_INFINITY);
  const cancel = () => calls.cancel({ ...message, type: "core.tool.cancel", payload: { call_id } });
  if (signal?.aborted) throw toolError(runtimeError(Canceled, "the call was canceled"));
  signal?.addEventListener("abort", cancel);
  calls.begin(message);
  try {
    const { status, output, error } = await ended.promise;
    if (status !== "succeeded") throw toolError(error);
    return output && copyOf(output);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
};
