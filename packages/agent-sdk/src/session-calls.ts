import {
  type AgentToolResult,
  type CoreToolCall,
  type CoreToolCancel,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { BoundedSet, createDeferred, type HarnessError } from "@harnesskit/wire";
import { jsonProblem, maxJsonDepth } from "@harnesskit/wire/json";
import { Deadlines, isoTime } from "@harnesskit/wire/time";
import type { AgentCore } from "./agent-core.ts";
import type { StreamPayload } from "./call-stream.ts";
import { AgentStoppingError } from "./errors.ts";
import { frameBytes, type Outbox, type OutgoingMessage, toMessage } from "./outbox.ts";
import { runtimeError } from "./runtime-error.ts";
import type { CompiledTool } from "./tool.ts";
import { ToolCall } from "./tool-call.ts";
import type { CallOrigin } from "./tool-context.ts";

export type ResultPayload = AgentToolResult["payload"];

/** Calls whose ids are remembered, so that none is run twice. */
const maxRecentCalls = 1024;
/** What envelope, ids and everything but the output take of a result at the most; its error may take 48 KiB. */
const envelopeBytes = 16 * 1024;
const sureErrorBytes = 64 * 1024;
/** A byte of text takes at most six in JSON. */
const escapedBytes = 6;

/** The calls of one connection, and what they send: stream messages, and results that fit into the core's frames. */
export class SessionCalls {
  readonly outbox: Outbox;
  /** Bytes of an output that fits into any result. */
  readonly sureOutputBytes: number;
  readonly deadlines: Deadlines<ToolCall>;
  readonly #core: AgentCore;
  readonly #maxFrameBytes: number;
  readonly #active = new Map<string, ToolCall>();
  readonly #recent = new BoundedSet<string>({ maxSize: maxRecentCalls });
  readonly #drained = createDeferred<void>();
  #isStopping = false;

  constructor(core: AgentCore, outbox: Outbox, maxFrameBytes: number) {
    this.outbox = outbox;
    this.sureOutputBytes = Math.max(0, maxFrameBytes - envelopeBytes);
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
      this.outbox.error(RuntimeErrorCode.OutOfOrder, problem, { inReplyTo: message.id, origin: message });
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
    const message = "the agent stopped while the call was running";
    const error = runtimeError(RuntimeErrorCode.AgentLost, message);
    for (const call of [...this.#active.values()]) {
      call.abort(new AgentStoppingError(), { status: "failed", error }, graceMs);
    }
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

  /** The largest payload of a stream message of this call, in bytes. */
  maxChunkBytes({ payload: { call_id }, origin }: ToolCall): number {
    if (this.#maxFrameBytes === Number.POSITIVE_INFINITY) return this.#maxFrameBytes;
    const data = { json: {} };
    const empty: StreamPayload = { call_id, seq: 1e9, channel: "partial_result", data, done: true };
    return Math.floor(this.#bytesBeside("agent.tool.stream", origin, empty) / escapedBytes);
  }

  /** Bytes that an output may have in the result of this call. */
  maxOutputBytes({ payload: { call_id }, origin }: ToolCall): number {
    const at = "2000-01-01T00:00:00.000Z";
    const metrics = {
      duration_ms: 1e12,
      stream_messages: 1e9,
      stream_dropped_messages: 1e12,
      stream_dropped_bytes: 1e15,
    };
    const empty = { call_id, status: "succeeded", output: {}, started_at: at, finished_at: at, metrics };
    return this.#bytesBeside("agent.tool.result", origin, empty);
  }

  #refuse(payload: CoreToolCall["payload"], tool: CompiledTool | undefined): RuntimeError | undefined {
    const { limits, isStopping, runningTools } = this.#core;
    const { maxToolInputBytes: maxBytes, maxInFlightCalls } = limits;
    const { AgentUnavailable, Busy, InputTooLarge, InvalidInput, ToolNotFound } = RuntimeErrorCode;
    const retryable = { retryable: true };
    if (isStopping) return runtimeError(AgentUnavailable, "the agent is stopping", retryable);
    if (!tool) return runtimeError(ToolNotFound, "the agent has no tool of this id");
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
      take: () =>
        this.#fit(toMessage(this.#core.clock.now(), "agent.tool.result", payload, { origin }), payload),
      onRefused: () => {
        if (payload.output !== undefined) this.#send(tooLarge(payload), origin, 0);
      },
    });
  }

  /** Outputs were measured before. Errors and references to files may be too large for very small frames. */
  #fit(message: OutgoingMessage, payload: ResultPayload): OutgoingMessage {
    const { call_id, status, error, output } = payload;
    const isMeasured = error === undefined && output?.output_file === undefined;
    if (isMeasured || this.#maxFrameBytes >= sureErrorBytes) return message;
    if (frameBytes(message) <= this.#maxFrameBytes) return message;
    if (error) {
      const { code, message: text, retryable } = error;
      const short = { code, message: text.slice(0, 64), retryable };
      message.payload = { call_id, status, error: short };
    } else message.payload = tooLarge(payload);
    return message;
  }

  /** What a frame leaves for the content of this message. */
  #bytesBeside(type: "agent.tool.stream" | "agent.tool.result", origin: CallOrigin, payload: object): number {
    return this.#maxFrameBytes - frameBytes(toMessage(this.#core.clock.now(), type, payload, { origin }));
  }
}

/** The result in place of one that does not fit into a frame. */
const tooLarge = ({ output, metrics, ...rest }: ResultPayload): ResultPayload => ({
  ...rest,
  status: "failed",
  error: runtimeError(RuntimeErrorCode.OutputTooLarge, "the result exceeds max_frame_bytes"),
});
