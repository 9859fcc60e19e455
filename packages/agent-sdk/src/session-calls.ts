import type { CoreToolCall, CoreToolCancel, RuntimeError } from "@harnesskit/protocol/runtime";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { HarnessError } from "@harnesskit/wire";
import type { AgentCore } from "./agent-core.ts";
import { AgentStoppingError, ToolError } from "./errors.ts";
import { isoTimestamp } from "./iso-timestamp.ts";
import { budgetAfter, writeJson } from "./json-size.ts";
import { maxPayloadDepth } from "./limits.ts";
import { RecentIds } from "./recent-ids.ts";
import { runtimeError } from "./runtime-error.ts";
import { type CallHost, type ResultPayload, ToolCall } from "./tool-call.ts";
import type { CallOrigin, CallPayload } from "./tool-context.ts";

/** Calls whose ids are remembered, so that none is run twice. */
const maxRecentCalls = 4096;

/** Where the calls of a connection answer. */
export interface CallReplies extends CallHost {
  /** Ends a call that was not begun. */
  refuse(payload: ResultPayload, origin: CallOrigin): void;
}

/** The bytes of an input, or fewer than the limit where it surely fits. */
const exceeds = (input: unknown, maxBytes: number): boolean =>
  budgetAfter(input, maxBytes, maxPayloadDepth) < 0 && writeJson(input, maxPayloadDepth).bytes > maxBytes;

/** Why a call is not begun, if it is not. */
export const refusalOf = (core: AgentCore, payload: CallPayload): RuntimeError | undefined => {
  const { maxToolInputBytes, maxInflightCalls } = core.limits;
  if (core.isStopping) {
    return runtimeError(RuntimeErrorCode.AgentUnavailable, "the agent is stopping", { retryable: true });
  }
  if (!core.tools.byId(payload.tool_id)) {
    return runtimeError(RuntimeErrorCode.ToolNotFound, "the agent has no tool of this id");
  }
  if (core.running.count >= maxInflightCalls) {
    const text = `${maxInflightCalls} calls are running`;
    return runtimeError(RuntimeErrorCode.Busy, text, { retryable: true });
  }
  if (exceeds(payload.input, maxToolInputBytes)) {
    return runtimeError(RuntimeErrorCode.InputTooLarge, `the input exceeds ${maxToolInputBytes} bytes`);
  }
  return undefined;
};

/** The calls of one connection. */
export class SessionCalls {
  readonly #core: AgentCore;
  readonly #replies: CallReplies;
  readonly #active = new Map<string, ToolCall>();
  readonly #recent = new RecentIds(maxRecentCalls);

  constructor(core: AgentCore, replies: CallReplies) {
    this.#core = core;
    this.#replies = replies;
  }

  /** Calls whose result was not sent. */
  get inflight(): number {
    return this.#active.size;
  }

  /** Runs a call. False when its id was seen before: then nothing is done. */
  begin(message: CoreToolCall): boolean {
    const { payload } = message;
    if (this.#active.has(payload.call_id) || !this.#recent.add(payload.call_id)) return false;
    const refusal = refusalOf(this.#core, payload);
    const tool = this.#core.tools.byId(payload.tool_id);
    if (refusal || !tool) {
      const now = isoTimestamp(this.#core.clock.now());
      const error =
        refusal ?? runtimeError(RuntimeErrorCode.ToolNotFound, "the agent has no tool of this id");
      const { call_id } = payload;
      this.#replies.refuse({ call_id, status: "failed", error, started_at: now, finished_at: now }, message);
      return true;
    }
    const call = new ToolCall(tool, payload, message, this.#replies, this.#core);
    this.#active.set(payload.call_id, call);
    call.begin();
    return true;
  }

  /** Cancels a call. Returns what the acknowledgement says, and what is to be done after it was sent. */
  cancel(payload: CoreToolCancel["payload"]): (() => void) | undefined {
    const call = this.#active.get(payload.call_id);
    if (!call) return undefined;
    return () => {
      const text = "the call was canceled";
      const reason = new ToolError(RuntimeErrorCode.Canceled, text, {
        ...(payload.reason !== undefined && { details: { reason: payload.reason } }),
      });
      const error = runtimeError(RuntimeErrorCode.Canceled, text);
      call.abort(reason, { status: "canceled", error }, payload.deadline_ms ?? this.#core.graceMs);
    };
  }

  /** The message of a call that is running: what is said about the call echoes its ids. */
  origin(callId: string): CallOrigin | undefined {
    return this.#active.get(callId)?.origin;
  }

  /** The result of a call leaves. */
  ended(call: ToolCall): void {
    this.#active.delete(call.payload.call_id);
  }

  /** The agent ends: every call is told, and has a result after the grace. */
  stop(graceMs: number): void {
    const text = "the agent stopped while the call was running";
    const error = runtimeError(RuntimeErrorCode.AgentLost, text);
    for (const call of [...this.#active.values()]) {
      call.abort(new AgentStoppingError(), { status: "failed", error }, graceMs);
    }
  }

  /** The core is gone: every call is told, and nobody waits for a result. */
  lose(reason: HarnessError): void {
    const calls = [...this.#active.values()];
    this.#active.clear();
    for (const call of calls) call.abort(reason, undefined);
  }
}
