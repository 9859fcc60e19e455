import type { AgentToolResult, RuntimeError } from "@harnesskit/protocol/runtime";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { type Clock, type HarnessError, isThenable } from "@harnesskit/wire";
import { callScope } from "./call-scope.ts";
import { CallStream, type StreamPayload, type StreamSink } from "./call-stream.ts";
import { ToolError, ToolFailedError } from "./errors.ts";
import { isoTimestamp } from "./iso-timestamp.ts";
import type { AgentLimits } from "./limits.ts";
import { type EncodedOutput, encodeOutput } from "./output.ts";
import type { OutputFiles } from "./output-files.ts";
import type { RunningCalls } from "./running-calls.ts";
import { misfit, runtimeError, thrownError } from "./runtime-error.ts";
import type { Validated } from "./schema.ts";
import type { Tool } from "./tool.ts";
import { type CallOrigin, type CallPayload, LazyToolContext } from "./tool-context.ts";

export type ResultPayload = AgentToolResult["payload"];

/** What all calls of an agent share. */
export interface CallEnvironment {
  readonly clock: Clock;
  readonly limits: AgentLimits;
  readonly running: RunningCalls;
  /** Undefined where outputs that are too large fail. */
  readonly outputFiles: OutputFiles | undefined;
  readonly debug: boolean;
  /** How long an aborted tool may take to end. */
  readonly graceMs: number;
  /** Whether stray failures are to be told apart by call. */
  readonly isAttributing: boolean;
  readonly redact: (text: string) => string;
  readonly report: (error: HarnessError) => void;
}

/** Who asked for a call. */
export interface CallHost extends StreamSink {
  /** Bytes that the text of a stream message of this call may have. */
  maxChunkBytes(call: ToolCall): number;
  toStreamMessage(call: ToolCall, payload: StreamPayload): object;
  /** Bytes that an output may surely have in a result. */
  readonly sureOutputBytes: number;
  /** Bytes that an output may have in the result of this call. */
  maxOutputBytes(call: ToolCall): number;
  /** The end of the call, about this many bytes. Called once. */
  result(call: ToolCall, payload: ResultPayload, bytes: number): void;
}

/** How a call ends that was aborted. Undefined: nobody is left to be told. */
export interface AbortOutcome {
  readonly status: "failed" | "canceled";
  readonly error: RuntimeError;
}

/** About what a result takes beside its output. */
const resultBytes = 512;

/**
 * One call of a tool, from its input to its one result. The result comes from whatever is first: the tool's end, or, for
 * an aborted call, the end of its grace; what comes later is dropped.
 */
export class ToolCall {
  readonly tool: Tool;
  readonly payload: CallPayload;
  readonly origin: CallOrigin;
  readonly #environment: CallEnvironment;
  readonly #host: CallHost;
  readonly #startedAt: number;
  readonly #startedAtText: string;
  readonly deadlineAt: number | undefined;
  dueAt: number;
  #isSettled = false;
  #stream: CallStream | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: HarnessError; readonly outcome: AbortOutcome | undefined } | undefined;

  constructor(
    tool: Tool,
    payload: CallPayload,
    origin: CallOrigin,
    host: CallHost,
    environment: CallEnvironment,
  ) {
    this.tool = tool;
    this.payload = payload;
    this.origin = origin;
    this.#host = host;
    this.#environment = environment;
    this.#startedAt = environment.clock.now();
    this.#startedAtText = isoTimestamp(this.#startedAt);
    const timeoutMs = Math.min(
      payload.timeout_ms ?? Number.POSITIVE_INFINITY,
      tool.timeoutMs ?? Number.POSITIVE_INFINITY,
    );
    this.dueAt = this.#startedAt + timeoutMs;
    this.deadlineAt = timeoutMs === Number.POSITIVE_INFINITY ? undefined : this.dueAt;
  }

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
      const { limits } = this.#environment;
      this.#stream = new CallStream({
        callId: this.payload.call_id,
        sink: this.#host,
        limits,
        maxChunkBytes: this.#host.maxChunkBytes(this),
        toMessage: (payload) => this.#host.toStreamMessage(this, payload),
      });
      if (this.#isSettled) this.#stream.end();
    }
    return this.#stream;
  }

  /** Validates and runs; a tool that returns at once has its result when this returns. */
  begin(): void {
    let validated: Validated | Promise<Validated>;
    try {
      validated = this.tool.input.validate(this.payload.input);
    } catch (cause) {
      this.#threw(cause);
      return;
    }
    if (!(validated instanceof Promise)) {
      this.#run(validated);
      return;
    }
    this.#environment.running.add(this);
    validated.then(
      (result) => this.#run(result),
      (cause: unknown) => this.#threw(cause),
    );
  }

  /** The work is no longer wanted. The first abort says how the call ends; a later one can only shorten the grace. */
  abort(reason: HarnessError, outcome: AbortOutcome | undefined, graceMs = this.#environment.graceMs): void {
    if (this.#isSettled) return;
    const { clock, running } = this.#environment;
    const graceEndsAt = clock.now() + graceMs;
    if (!this.#aborted) {
      this.#aborted = { reason, outcome };
      this.dueAt = graceEndsAt;
      this.#controller?.abort(reason);
    } else if (graceEndsAt < this.dueAt) {
      this.dueAt = graceEndsAt;
    }
    if (graceMs <= 0 || outcome === undefined) this.#settleAborted();
    else running.watch(this);
  }

  /** The deadline or the end of the grace is there. */
  due(): void {
    if (this.#isSettled) {
      this.dueAt = Number.POSITIVE_INFINITY;
      return;
    }
    if (this.#aborted) {
      this.#settleAborted();
      return;
    }
    const text = "the call did not end in time";
    const code = RuntimeErrorCode.Timeout;
    this.abort(new ToolError(code, text), { status: "failed", error: runtimeError(code, text) });
  }

  /** Something that the tool left running failed. */
  failStray(cause: unknown): void {
    if (this.#isSettled) return;
    this.#reportFailure(cause, "threw outside of its call's promise");
    if (!this.#aborted) {
      const reason = new ToolError(RuntimeErrorCode.Failed, "another part of the call failed", { cause });
      this.#aborted = { reason, outcome: { status: "failed", error: thrownError(cause, this.#environment) } };
      this.#controller?.abort(reason);
    }
    this.#settleAborted();
  }

  #run(validated: Validated): void {
    if (this.#endsAborted()) return;
    if (!validated.ok) {
      this.#fail(misfit(RuntimeErrorCode.InvalidInput, validated.problems));
      return;
    }
    let returned: unknown;
    try {
      const context = new LazyToolContext(this);
      returned = this.#environment.isAttributing
        ? callScope.run(this, () => this.tool.run(validated.value, context))
        : this.tool.run(validated.value, context);
    } catch (thrown) {
      this.#threw(thrown);
      return;
    }
    if (!isThenable(returned)) {
      this.#returned(returned);
      return;
    }
    this.#environment.running.add(this);
    Promise.resolve(returned).then(
      (value) => this.#returned(value),
      (thrown: unknown) => this.#threw(thrown),
    );
  }

  #returned(value: unknown): void {
    if (this.#endsAborted({ returned: true })) return;
    const { output } = this.tool;
    if (!output) {
      this.#encode(value);
      return;
    }
    let validated: Validated | Promise<Validated>;
    try {
      validated = output.validate(value);
    } catch (cause) {
      this.#threw(cause);
      return;
    }
    if (validated instanceof Promise) {
      this.#environment.running.add(this);
      validated.then(
        (result) => this.#checked(result),
        (cause: unknown) => this.#threw(cause),
      );
    } else this.#checked(validated);
  }

  #checked(validated: Validated): void {
    if (this.#endsAborted({ returned: true })) return;
    if (validated.ok) this.#encode(validated.value);
    else this.#fail(misfit(RuntimeErrorCode.InvalidOutput, validated.problems));
  }

  #encode(value: unknown): void {
    const { limits, outputFiles, running } = this.#environment;
    const encoded = encodeOutput(value, {
      sureBytes: Math.min(limits.maxToolOutputBytes, this.#host.sureOutputBytes),
      maxBytes: () => Math.min(limits.maxToolOutputBytes, this.#host.maxOutputBytes(this)),
    });
    if (encoded.kind === "output") this.#succeed(encoded.output, encoded.bytes);
    else if (encoded.kind === "invalid")
      this.#fail(misfit(RuntimeErrorCode.InvalidOutput, [encoded.problem]));
    else if (!outputFiles || encoded.bytes > limits.maxOutputFilesBytes) this.#fail(this.#tooLarge(encoded));
    else {
      running.add(this);
      outputFiles.store(encoded.text, encoded.bytes).then(
        (reference) => {
          if (!this.#endsAborted({ returned: true })) this.#succeed(reference);
        },
        (cause: unknown) => {
          this.#reportFailure(cause, "returned an output that could not be put into a file");
          if (!this.#endsAborted({ returned: true })) this.#fail(this.#tooLarge(encoded));
        },
      );
    }
  }

  #tooLarge({ bytes, maxBytes }: EncodedOutput & { kind: "large" }): RuntimeError {
    return runtimeError(RuntimeErrorCode.OutputTooLarge, `the output exceeds ${maxBytes} bytes`, {
      details: { size_bytes: bytes, max_bytes: maxBytes },
    });
  }

  #threw(thrown: unknown): void {
    if (this.#endsAborted()) return;
    if (!ToolError.isInstance(thrown)) this.#reportFailure(thrown, "failed");
    this.#fail(thrownError(thrown, this.#environment));
  }

  #reportFailure(cause: unknown, what: string): void {
    const { name } = this.tool;
    this.#environment.report(
      new ToolFailedError(name, this.payload.call_id, `tool ${name} ${what}`, { cause }),
    );
  }

  /** True when the tool's end changes nothing more: the call was aborted, or is over. */
  #endsAborted(details?: { readonly returned: true }): boolean {
    if (!this.#isSettled && !this.#aborted) return false;
    this.#settleAborted(details);
    this.#environment.running.remove(this);
    return true;
  }

  #settleAborted(details?: { readonly returned: true }): void {
    if (!this.#aborted) return;
    const { outcome } = this.#aborted;
    if (outcome) {
      this.#settle({
        status: outcome.status,
        error: details ? { ...outcome.error, details } : outcome.error,
      });
      return;
    }
    this.#isSettled = true;
    this.dueAt = Number.POSITIVE_INFINITY;
    this.#stream?.end();
  }

  #fail(error: RuntimeError): void {
    this.#settle({ status: "failed", error });
    this.#environment.running.remove(this);
  }

  #succeed(output: ResultPayload["output"], bytes = 0): void {
    this.#settle(output === undefined ? { status: "succeeded" } : { status: "succeeded", output }, bytes);
    this.#environment.running.remove(this);
  }

  #settle(end: Pick<ResultPayload, "status" | "output" | "error">, outputBytes = 0): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.dueAt = Number.POSITIVE_INFINITY;
    const stream = this.#stream;
    stream?.end();
    const finishedAt = this.#environment.clock.now();
    const result = {
      call_id: this.payload.call_id,
      ...end,
      started_at: this.#startedAtText,
      finished_at: isoTimestamp(finishedAt),
      metrics: {
        duration_ms: finishedAt - this.#startedAt,
        ...(stream && { stream_messages: stream.sent }),
        ...(stream &&
          stream.dropped > 0 && {
            stream_dropped_messages: stream.dropped,
            stream_dropped_bytes: stream.droppedBytes,
          }),
      },
    };
    this.#host.result(this, result, outputBytes + resultBytes);
  }
}
