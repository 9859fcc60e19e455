import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type Actor,
  type CallContext,
  type Caller,
  type CoreToolCall,
  RUNTIME_PROTOCOL_VERSION,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { callSafely, createDeferred } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { isoTime } from "@harnesskit/wire/time";
import { ToolError } from "@harnesskit/wire/tool";
import type { AgentCore } from "./agent-core.ts";
import type { StreamPayload } from "./call-stream.ts";
import { Outbox, type OutgoingMessage } from "./outbox.ts";
import { misfit, runtimeError } from "./runtime-error.ts";
import { type ResultPayload, SessionCalls } from "./session-calls.ts";

export interface LocalCallOptions {
  /** Cancels the call: it fails with `tool.canceled`, at the latest after the grace. */
  readonly signal?: AbortSignal | undefined;
  /** @default none */
  readonly timeoutMs?: number | undefined;
  /** Receives each stream message as a core would. */
  readonly onStream?: ((payload: StreamPayload) => void) | undefined;
  /** @default a new one */
  readonly callId?: string | undefined;
  /** @default a new one */
  readonly requestId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly causationId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly caller?: Caller | undefined;
  readonly actor?: Actor | undefined;
  readonly context?: CallContext | undefined;
}

const toolError = (
  { code, message, details, retryable } = runtimeError(RuntimeErrorCode.Failed, "the tool failed"),
): ToolError =>
  new ToolError(code, message, {
    details,
    retryable,
  });

/** Runs one call as a core would have it run: the same messages, on a channel that leads back here. */
export const callLocally = async (
  core: AgentCore,
  name: string,
  input: unknown,
  { signal, onStream, timeoutMs, ...options }: LocalCallOptions,
): Promise<JsonObject | undefined> => {
  if (!isObject(input)) {
    const problems = [{ path: "", problem: "type", expected: "object" }];
    throw toolError(misfit(RuntimeErrorCode.InvalidInput, problems));
  }
  const call_id = options.callId ?? randomUUID();
  await core.tools.byId(core.tools.idOf(name))?.load();
  const message: CoreToolCall = {
    v: RUNTIME_PROTOCOL_VERSION,
    type: "core.tool.call",
    id: call_id,
    ts: isoTime(core.clock.now()),
    request_id: options.requestId ?? randomUUID(),
    correlation_id: options.correlationId,
    causation_id: options.causationId,
    actor: options.actor,
    payload: {
      call_id,
      tool_id: core.tools.idOf(name),
      input: JSON.parse(JSON.stringify(input)) as JsonObject,
      timeout_ms: timeoutMs,
      idempotency_key: options.idempotencyKey,
      caller: options.caller,
      context: options.context,
    },
  };
  const ended = createDeferred<ResultPayload>();
  const send = async (sent: unknown): Promise<void> => {
    const { type, payload } = sent as OutgoingMessage;
    if (type === "agent.tool.stream") callSafely(() => onStream?.(payload as StreamPayload));
    else if (type === "agent.tool.result") ended.resolve(payload as ResultPayload);
  };
  const outbox = new Outbox({ send, close: async () => {} }, core.limits, core.clock);
  const calls = new SessionCalls(core, outbox, Number.POSITIVE_INFINITY);
  const cancel = () => {
    const payload = { call_id };
    calls.cancel({ ...message, type: "core.tool.cancel", payload });
  };
  if (signal?.aborted) throw toolError(runtimeError(RuntimeErrorCode.Canceled, "the call was canceled"));
  signal?.addEventListener("abort", cancel);
  calls.begin(message);
  try {
    const { status, output, error } = await ended.promise;
    if (status !== "succeeded") throw toolError(error);
    return output && (JSON.parse(JSON.stringify(output)) as JsonObject);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
};
