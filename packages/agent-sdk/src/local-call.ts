import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Actor, CallContext, Caller } from "@harnesskit/protocol/runtime";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { AgentCore } from "./agent-core.ts";
import type { StreamPayload } from "./call-stream.ts";
import { ToolError } from "./errors.ts";
import { isJsonObject } from "./json-size.ts";
import { LocalHost } from "./local-host.ts";
import { misfit, runtimeError } from "./runtime-error.ts";
import { refusalOf } from "./session-calls.ts";
import { type ResultPayload, ToolCall } from "./tool-call.ts";

export interface LocalCallOptions {
  /** Cancels the call: it fails with `tool.canceled`, at the latest after the grace. */
  readonly signal?: AbortSignal;
  /** @default none */
  readonly timeoutMs?: number;
  /** Told each stream message as a core would get it. */
  readonly onStream?: (payload: StreamPayload) => void;
  /** @default a new one */
  readonly callId?: string;
  /** @default a new one */
  readonly requestId?: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly idempotencyKey?: string;
  readonly caller?: Caller;
  readonly actor?: Actor;
  readonly context?: CallContext;
}

const toolError = ({ error }: ResultPayload): ToolError => {
  const { code, message, details, retryable } =
    error ?? runtimeError(RuntimeErrorCode.Failed, "the tool failed");
  return new ToolError(code, message, {
    ...(details !== undefined && { details }),
    ...(retryable !== undefined && { retryable }),
  });
};

/** Runs one call as a core would have it run. */
export const callLocally = async (
  core: AgentCore,
  name: string,
  input: unknown,
  options: LocalCallOptions,
): Promise<JsonObject | undefined> => {
  if (!isJsonObject(input)) {
    throw toolError({
      call_id: "",
      status: "failed",
      error: misfit(RuntimeErrorCode.InvalidInput, [{ path: "", problem: "type", expected: "object" }]),
    });
  }
  const { timeoutMs, idempotencyKey, caller, context, signal } = options;
  const payload = {
    call_id: options.callId ?? randomUUID(),
    tool_id: core.tools.idOf(name),
    input: JSON.parse(JSON.stringify(input)) as JsonObject,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(idempotencyKey !== undefined && { idempotency_key: idempotencyKey }),
    ...(caller !== undefined && { caller }),
    ...(context !== undefined && { context }),
  };
  const refusal = refusalOf(core, payload);
  const tool = core.tools.get(name);
  if (refusal || !tool) {
    throw toolError({ call_id: payload.call_id, status: "failed", ...(refusal && { error: refusal }) });
  }
  const origin = {
    request_id: options.requestId ?? randomUUID(),
    correlation_id: options.correlationId,
    causation_id: options.causationId,
    actor: options.actor,
  };
  const host = new LocalHost(options.onStream);
  const call = new ToolCall(tool, payload, origin, host, core);
  const cancel = () => {
    const text = "the call was canceled";
    const code = RuntimeErrorCode.Canceled;
    call.abort(new ToolError(code, text), { status: "canceled", error: runtimeError(code, text) });
  };
  if (signal?.aborted) cancel();
  else signal?.addEventListener("abort", cancel);
  call.begin();
  try {
    const result = await host.ended;
    if (result.status !== "succeeded") throw toolError(result);
    return result.output === undefined
      ? undefined
      : (JSON.parse(JSON.stringify(result.output)) as JsonObject);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
};
