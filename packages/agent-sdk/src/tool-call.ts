import { AsyncLocalStorage } from "node:async_hooks";
import { type CoreToolCall, type RuntimeError, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { type HarnessError, isThenable } from "@harnesskit/wire";
import { isoTime } from "@harnesskit/wire/time";
import { ToolError } from "@harnesskit/wire/tool";
import {
  inSpan,
  readTraceContext,
  recordOutcome,
  remoteCallSpan,
  type Span,
  startSpan,
} from "@harnesskit/wire/trace";
import type { AgentCore } from "./agent-core.ts";
import { CallStream } from "./call-stream.ts";
import { ToolFailedError } from "./errors.ts";
import { encodeOutput } from "./output.ts";
import { misfit, runtimeError, thrownError } from "./runtime-error.ts";
import type { ResultPayload, SessionCalls } from "./session-calls.ts";
import type { CompiledTool } from "./tool.ts";
import { type CallOrigin, CallToolContext } from "./tool-context.ts";

/** What a call asks for. */
export type CallPayload = CoreToolCall["payload"];

/** Which call the running code belongs to, also in timers and promises that its tool left behind. */
export const callScope = new AsyncLocalStorage<ToolCall>();

/** How an aborted call ends. */
export interface AbortOutcome {
  readonly status: "failed" | "canceled";
  readonly error: RuntimeError;
}

type End = Pick<ResultPayload, "status" | "output" | "error"> & { readonly outputBytes?: number };

/** About what a result takes beside its output. */
const resultBytes = 512;

const failedEnd = (error: RuntimeError) => ({ status: "failed" as const, error });

/**
 * One call of a tool, from its input to its one result. The result comes from whatever is first: the tool's end, or, for
 * an aborted call, the end of its grace; what comes later is dropped.
 */
export class ToolCall {
  readonly tool: CompiledTool;
  readonly payload: CallPayload;
  readonly origin: CallOrigin;
  /** How long it may take; Infinity without a limit. */
  readonly timeoutMs: number;
  /** When it started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** When it expires, by the deadlines of its connection. */
  dueMs = Number.POSITIVE_INFINITY;
  readonly #core: AgentCore;
  readonly #calls: SessionCalls;
  readonly #startedMs: number;
  /** Made when the tool reads its signal. */
  #controller: AbortController | undefined;
  #isSettled = false;
  #span: Span | undefined;
  #hasReturned = false;
  #stream: CallStream | undefined;
  /** Without an outcome, the result is not sent. */
  #aborted: { readonly reason: HarnessError; readonly outcome: AbortOutcome | undefined } | undefined;

  constructor(tool: CompiledTool, message: CoreToolCall, calls: SessionCalls, core: AgentCore) {
    this.tool = tool;
    this.payload = message.payload;
    this.origin = message;
    this.#calls = calls;
    this.#core = core;
    this.startedAt = core.clock.now();
    this.#startedMs = core.clock.elapsedMs();
    this.timeoutMs = Math.min(this.payload.timeout_ms ?? Infinity, tool.timeoutMs ?? Infinity);
  }

  /** Its result was sent; its tool may still run. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get stream(): CallStream {
    if (!this.#stream) {
      this.#stream = new CallStream(this, this.#calls, this.#core.limits);
      if (this.#isSettled) this.#stream.end();
    }
    return this.#stream;
  }

  /** Validates the input, runs the tool and sends the result. Never rejects. */
  run(): Promise<void> {
    this.#core.runningTools++;
    this.dueMs = this.#calls.deadlines.dueAfter(this.timeoutMs);
    const { call_id: callId, input, context } = this.payload;
    this.#span = startSpan(() => ({
      ...remoteCallSpan("agent", this.tool.name, callId, input),
      parent: readTraceContext(context),
    }));
    return inSpan(this.#span, () => callScope.run(this, () => this.#run()));
  }

  async #run(): Promise<void> {
    let end: End;
    try {
      // What is there is not awaited: most calls are done in one go.
      const validated = this.tool.input.validate(this.payload.input);
      const input = isThenable(validated) ? await validated : validated;
      if (!input.ok) end = failedEnd(misfit(RuntimeErrorCode.InvalidInput, input.problems));
      else if (this.#aborted)
        end = failedEnd(runtimeError(RuntimeErrorCode.Canceled, "the call was canceled"));
      else {
        const returned = this.tool.run(input.value, new CallToolContext(this));
        const value = isThenable(returned) ? await returned : returned;
        this.#hasReturned = true;
        const checked = this.tool.output?.validate(value) ?? { ok: true, value };
        const output = isThenable(checked) ? await checked : checked;
        const encoded = output.ok
          ? this.#encode(output.value)
          : failedEnd(misfit(RuntimeErrorCode.InvalidOutput, output.problems));
        end = isThenable(encoded) ? await encoded : encoded;
      }
    } catch (thrown) {
      if (!this.#aborted && !this.#isSettled && !ToolError.isInstance(thrown)) {
        this.#reportFailure(thrown, "failed");
      }
      end = failedEnd(thrownError(thrown, this.#core.redact));
    }
    if (this.#aborted) this.#settleAborted();
    else this.#settle(end);
    this.#core.toolEnded();
  }

  /** The work is no longer wanted. The first abort says how the call ends; a later one can only shorten the grace. */
  abort(reason: HarnessError, outcome: AbortOutcome | undefined, graceMs = this.#core.graceMs): void {
    if (this.#isSettled) return;
    if (!this.#aborted) {
      this.dueMs = Number.POSITIVE_INFINITY;
      this.#aborted = { reason, outcome };
      this.#controller?.abort(reason);
    }
    if (graceMs <= 0 || outcome === undefined) this.#settleAborted();
    else this.dueMs = Math.min(this.dueMs, this.#calls.deadlines.dueAfter(graceMs));
  }

  /** Its caller cancelled it. */
  cancel(reason?: string, graceMs?: number): void {
    const message = "the call was canceled";
    const details = reason === undefined ? undefined : { reason };
    const error = new ToolError(RuntimeErrorCode.Canceled, message, details && { details });
    const outcome = { status: "canceled" as const, error: runtimeError(RuntimeErrorCode.Canceled, message) };
    this.abort(error, outcome, graceMs);
  }

  /** The deadline or the end of the grace is reached. */
  expired(): void {
    if (this.#aborted) {
      this.#settleAborted();
      return;
    }
    const message = "the call did not end in time";
    const code = RuntimeErrorCode.Timeout;
    this.abort(new ToolError(code, message), failedEnd(runtimeError(code, message)));
  }

  /** Something that the tool left running failed. */
  failStray(cause: unknown): void {
    if (this.#isSettled) return;
    this.#reportFailure(cause, "threw outside of its call's promise");
    if (!this.#aborted) {
      const message = "another part of the call failed";
      const reason = new ToolError(RuntimeErrorCode.Failed, message, { cause });
      this.#aborted = { reason, outcome: { status: "failed", error: thrownError(cause, this.#core.redact) } };
      this.#controller?.abort(reason);
    }
    this.#settleAborted();
  }

  #encode(value: unknown): End | Promise<End> {
    const { maxOutputBytes } = this.#calls;
    const encoded = encodeOutput(value, maxOutputBytes);
    if (typeof encoded === "string") {
      const expected = encoded === "type" ? "object" : undefined;
      const problems = [{ path: "", problem: encoded, expected }];
      return failedEnd(misfit(RuntimeErrorCode.InvalidOutput, problems));
    }
    const { bytes } = encoded;
    if ("output" in encoded) return { status: "succeeded", output: encoded.output, outputBytes: bytes };
    const message = `the output exceeds ${maxOutputBytes} bytes`;
    const details = { size_bytes: bytes, max_bytes: maxOutputBytes };
    const tooLarge = failedEnd(runtimeError(RuntimeErrorCode.OutputTooLarge, message, { details }));
    const { outputFiles } = this.#core;
    if (!outputFiles || bytes > outputFiles.maxBytes) return tooLarge;
    return outputFiles.store(encoded.text, bytes).then(
      (output) => ({ status: "succeeded", output }),
      (cause: unknown) => {
        this.#reportFailure(cause, "returned an output that could not be written to a file");
        return tooLarge;
      },
    );
  }

  #reportFailure(cause: unknown, what: string): void {
    const { name } = this.tool;
    const message = `tool ${name} ${what}`;
    this.#core.report(new ToolFailedError(name, this.payload.call_id, message, { cause }));
  }

  #settleAborted(): void {
    const outcome = this.#aborted?.outcome;
    const details = this.#hasReturned && { details: { returned: true } };
    if (outcome) this.#settle({ ...outcome, error: { ...outcome.error, ...details } });
    else if (!this.#isSettled) {
      this.#endOnce();
      this.#span?.end(this.#aborted?.reason);
      this.#stream?.end();
    }
  }

  #endOnce(): void {
    this.#isSettled = true;
    this.#core.abandonedTools++;
  }

  #settle({ outputBytes = 0, ...end }: End): void {
    if (this.#isSettled) return;
    this.#endOnce();
    recordOutcome(this.#span, { status: end.status, output: end.output, code: end.error?.code });
    this.#span?.end();
    const stream = this.#stream;
    stream?.end();
    const durationMs = this.#core.clock.elapsedMs() - this.#startedMs;
    const metrics: NonNullable<ResultPayload["metrics"]> = { duration_ms: durationMs };
    if (stream) metrics.stream_messages = stream.sent;
    if (stream?.dropped) {
      metrics.stream_dropped_messages = stream.dropped;
      metrics.stream_dropped_bytes = stream.droppedBytes;
    }
    const result: ResultPayload = {
      call_id: this.payload.call_id,
      ...end,
      started_at: isoTime(this.startedAt),
      finished_at: isoTime(this.startedAt + durationMs),
      metrics,
    };
    this.#calls.ended(this, result, outputBytes + resultBytes);
  }
}
