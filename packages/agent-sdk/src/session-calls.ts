import {
  type AgentToolResult,
  type CoreToolCall,
  type CoreToolCancel,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { BoundedSet, createDeferred, HarnessError } from "@harnesskit/wire";
import { jsonProblem, maxJsonDepth } from "@harnesskit/wire/json";
import { Deadlines, isoTime } from "@harnesskit/wire/time";
import type { AgentCore } from "./agent-core.ts";
import { envelopeBytes, sureFrameBytes } from "./limits.ts";
import { type Outbox, toMessage } from "./outbox.ts";
import { runtimeError } from "./runtime-error.ts";
import type { CompiledTool } from "./tool.ts";
import { ToolCall } from "./tool-call.ts";
import type { CallOrigin } from "./tool-context.ts";

export type ResultPayload = AgentToolResult["payload"];

const { AgentLost, AgentUnavailable, Busy, InputTooLarge, InvalidInput, OutOfOrder, OutputTooLarge } =
  RuntimeErrorCode;

/** Calls whose ids are remembered, so that none is run twice. */
const maxRecentCalls = 1024;
/** A byte of text takes at most six in JSON. */
const escapedBytes = 6;

/** The calls of one connection, and their results. */
export class SessionCalls {
  readonly outbox: Outbox;
  /** Bytes of an output that fits into a result, and of the content of a stream message. */
  readonly maxOutputBytes: number;
  readonly maxChunkBytes: number;
  readonly deadlines: Deadlines<ToolCall>;
  readonly #core: AgentCore;
  readonly #maxFrameBytes: number;
  readonly #active = new Map<string, ToolCall>();
  readonly #recent = new BoundedSet<string>({ maxSize: maxRecentCalls });
  readonly #drained = createDeferred<void>();
  #isStopping = false;

  constructor(core: AgentCore, outbox: Outbox, maxFrameBytes: number) {
    const { maxToolOutputBytes, maxStreamChunkBytes } = core.limits;
    const roomBytes = maxFrameBytes - Math.min(envelopeBytes, Math.floor(maxFrameBytes / 2));
    this.outbox = outbox;
    this.maxOutputBytes = Math.min(maxToolOutputBytes, roomBytes);
    this.maxChunkBytes = Math.max(4, Math.min(maxStreamChunkBytes, Math.floor(roomBytes / escapedBytes)));
    this.#core = core;
    this.#maxFrameBytes = maxFrameBytes;
    this.deadlines = new Deadlines({
      clock: core.clock,
      entries: () => this.#active.values(),
      expired: (call) => call.expired(),
    });
  }

  /** Calls whose result was not sent. */
  get inflight(): number {
    return this.#active.size;
  }

  /** Runs a call. */
  begin(message: CoreToolCall): void {
    const { payload } = message;
    const { call_id } = payload;
    if (this.#active.has(call_id) || this.#recent.has(call_id)) {
      const problem = "a call of this id was received before";
      this.outbox.error(OutOfOrder, problem, { inReplyTo: message.id, origin: message });
      return;
    }
    this.#recent.add(call_id);
    const tool = this.#core.tools.byId(payload.tool_id);
    const error = this.#refuse(payload, tool);
    if (error || !tool) {
      const now = isoTime(this.#core.clock.now());
      const times = { started_at: now, finished_at: now };
      this.#send({ call_id, status: "failed", error, ...times }, message, 0);
      return;
    }
    const call = new ToolCall(tool, message, this, this.#core);
    this.#active.set(call_id, call);
    void call.run();
  }

  /** Cancels a call, after the acknowledgement. */
  cancel({ id, payload, ...links }: CoreToolCancel): void {
    const { call_id, reason, deadline_ms } = payload;
    const call = this.#active.get(call_id);
    const ack = call
      ? { call_id, accepted: true }
      : { call_id, accepted: false, note: "no such call is running" };
    // A cancellation need not repeat the ids of its call (section 3.1).
    this.outbox.send("agent.tool.cancel_ack", ack, { origin: call?.origin ?? links, inReplyTo: id });
    call?.cancel(reason, deadline_ms);
  }

  /** The agent ends: every call is aborted, and has a result after the grace. Settles when they have. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    const error = runtimeError(AgentLost, "the agent stopped while the call was running");
    const reason = new HarnessError("agent_stopping", "the agent is stopping");
    for (const call of [...this.#active.values()]) call.abort(reason, { status: "failed", error }, graceMs);
    if (this.#active.size > 0) await this.#drained.promise;
  }

  /** The core is gone: every call is aborted, and no result is sent. */
  lose(reason: HarnessError): void {
    const calls = [...this.#active.values()];
    this.#active.clear();
    for (const call of calls) call.abort(reason, undefined);
    this.#drained.resolve();
  }

  /** The result of a call, with about this many bytes of output. Called once for each call. */
  ended({ payload, origin }: ToolCall, result: ResultPayload, bytes: number): void {
    this.#active.delete(payload.call_id);
    if (this.#isStopping && this.#active.size === 0) this.#drained.resolve();
    this.#send(result, origin, bytes);
  }

  #refuse(payload: CoreToolCall["payload"], tool: CompiledTool | undefined): RuntimeError | undefined {
    const { limits, isStopping, runningTools } = this.#core;
    const { maxToolInputBytes: maxBytes, maxInFlightCalls } = limits;
    const retryable = { retryable: true };
    if (isStopping) return runtimeError(AgentUnavailable, "the agent is stopping", retryable);
    if (!tool) return runtimeError(RuntimeErrorCode.ToolNotFound, "the agent has no tool of this id");
    if (runningTools >= maxInFlightCalls) {
      return runtimeError(Busy, `${maxInFlightCalls} calls are running`, retryable);
    }
    const problem = jsonProblem(payload.input, { maxBytes });
    if (!problem) return undefined;
    return problem.code === "too_large"
      ? runtimeError(InputTooLarge, `the input exceeds ${maxBytes} bytes`)
      : runtimeError(InvalidInput, `the input nests deeper than ${maxJsonDepth} levels`);
  }

  #send(payload: ResultPayload, origin: CallOrigin, bytes: number): void {
    this.outbox.push({
      bytes,
      take: () => {
        const messageOf = (result: ResultPayload) =>
          toMessage(this.#core.clock.now(), "agent.tool.result", result, { origin });
        const message = messageOf(payload);
        const isSure = this.#maxFrameBytes >= sureFrameBytes;
        const fits = isSure || Buffer.byteLength(JSON.stringify(message)) <= this.#maxFrameBytes;
        return fits ? message : messageOf(shortened(payload));
      },
      onRefused: () => {
        if (payload.output !== undefined) this.#send(shortened(payload), origin, 0);
      },
    });
  }
}

/** The result in place of one that does not fit into a frame. */
const shortened = ({ call_id, status, error }: ResultPayload): ResultPayload => {
  const { code, message } = error ?? runtimeError(OutputTooLarge, "the result exceeds max_frame_bytes");
  const isSuccess = status === "succeeded";
  return { call_id, status: isSuccess ? "failed" : status, error: { code, message: message.slice(0, 64) } };
};
