import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import type { StreamPayload } from "./call-stream.ts";
import { frameBytes, type OutgoingMessage, toMessage } from "./envelope.ts";
import type { Outbox, Outgoing } from "./outbox.ts";
import { runtimeError } from "./runtime-error.ts";
import type { CallHost, ResultPayload, ToolCall } from "./tool-call.ts";
import type { CallOrigin } from "./tool-context.ts";

/** What envelope, ids and everything but the output take of a result at the most; its error may take 48 KiB. */
const envelopeBytes = 16 * 1024;
const sureErrorBytes = 64 * 1024;
/** A byte of text takes at most six in JSON. */
const escapedBytes = 6;

export interface SessionRepliesOptions {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly maxFrameBytes: number;
  readonly onResult: (call: ToolCall) => void;
}

/** What the calls of one connection say: stream messages and results that fit into the core's frames. */
export class SessionReplies implements CallHost {
  readonly #options: SessionRepliesOptions;
  readonly sureOutputBytes: number;

  constructor(options: SessionRepliesOptions) {
    this.#options = options;
    this.sureOutputBytes = Math.max(0, options.maxFrameBytes - envelopeBytes);
  }

  get isFree(): boolean {
    return this.#options.outbox.isFree;
  }

  push(message: Outgoing): void {
    this.#options.outbox.push(message);
  }

  room(): Promise<void> {
    return this.#options.outbox.room();
  }

  maxChunkBytes(call: ToolCall): number {
    const { maxFrameBytes } = this.#options;
    const empty = {
      call_id: call.payload.call_id,
      seq: 1e9,
      channel: "partial_result",
      data: { json: {} },
      done: true,
    };
    const left = maxFrameBytes - frameBytes(this.#message("agent.tool.stream", call.origin, empty));
    return Math.floor(left / escapedBytes);
  }

  maxOutputBytes(call: ToolCall): number {
    const at = "2000-01-01T00:00:00.000Z";
    const metrics = {
      duration_ms: 1e12,
      stream_messages: 1e9,
      stream_dropped_messages: 1e12,
      stream_dropped_bytes: 1e15,
    };
    const { call_id } = call.payload;
    const empty = { call_id, status: "succeeded", output: {}, started_at: at, finished_at: at, metrics };
    return this.#options.maxFrameBytes - frameBytes(this.#message("agent.tool.result", call.origin, empty));
  }

  toStreamMessage(call: ToolCall, payload: StreamPayload): object {
    return this.#message("agent.tool.stream", call.origin, payload);
  }

  result(call: ToolCall, payload: ResultPayload, bytes: number): void {
    this.#options.onResult(call);
    this.#send(payload, call.origin, bytes);
  }

  /** Ends a call that was not begun. */
  refuse(payload: ResultPayload, origin: CallOrigin): void {
    this.#send(payload, origin, 0);
  }

  #send(payload: ResultPayload, origin: CallOrigin, bytes: number): void {
    const { outbox } = this.#options;
    // What waits must not change when the tool changes what it returned.
    const kept = outbox.isFree ? payload : (JSON.parse(JSON.stringify(payload)) as ResultPayload);
    outbox.push({
      bytes,
      take: () => this.#fit(this.#message("agent.tool.result", origin, kept), kept),
      onRefused: () => {
        if (kept.output !== undefined) this.#send(this.#tooLarge(kept), origin, 0);
      },
    });
  }

  /** A result that is surely small enough, or was made so. */
  #fit(message: OutgoingMessage, payload: ResultPayload): OutgoingMessage {
    const { maxFrameBytes } = this.#options;
    const { error, output } = payload;
    const isMeasured = error === undefined && output?.output_file === undefined;
    if (isMeasured || maxFrameBytes >= sureErrorBytes || frameBytes(message) <= maxFrameBytes) return message;
    if (error === undefined) return { ...message, payload: this.#tooLarge(payload) };
    const { code, message: text, retryable } = error;
    const short = { code, message: text.slice(0, 64), ...(retryable !== undefined && { retryable }) };
    return { ...message, payload: { call_id: payload.call_id, status: payload.status, error: short } };
  }

  #tooLarge({ call_id, started_at, finished_at }: ResultPayload): ResultPayload {
    const error = runtimeError(RuntimeErrorCode.OutputTooLarge, "the result exceeds max_frame_bytes");
    return {
      call_id,
      status: "failed",
      error,
      ...(started_at !== undefined && { started_at }),
      ...(finished_at !== undefined && { finished_at }),
    };
  }

  #message(
    type: "agent.tool.stream" | "agent.tool.result",
    origin: CallOrigin,
    payload: object,
  ): OutgoingMessage {
    return toMessage({ type, payload, nowMs: this.#options.clock.now(), origin });
  }
}
