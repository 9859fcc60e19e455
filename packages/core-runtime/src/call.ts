import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { sharedSignal } from "@harnesskit/wire";
import {
  readTraceContext,
  recordOutcome,
  remoteCallSpan,
  type Span,
  startSpan,
} from "@harnesskit/wire/trace";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import { CallStream, type StreamChunk } from "./call-stream.ts";
import type { CoreContext } from "./core-context.ts";
import type { RegisteredTool } from "./judge-tool.ts";
import type { SessionCalls } from "./session-calls.ts";

/** A call that was made. */
export interface ToolCall {
  readonly callId: string;
  /** How it ends. Never rejects: every outcome is a {@link CallResult}. */
  readonly result: Promise<CallResult>;
  /**
   * What the call streams while it runs, for one reader. Ends when the call does. Unread chunks wait within
   * `maxStreamChunks` and `maxStreamBytes`; then the oldest are dropped, and the next one says how many.
   */
  readonly stream: AsyncIterable<StreamChunk>;
  /**
   * Asks the agent to stop. The call ends with what the agent then reports, or as cancelled when nothing comes within
   * `cancelGraceMs`. A call that was not sent yet ends at once. Does nothing after the end, or the second time.
   */
  cancel(reason?: string): void;
}

/**
 * - `opened`: nothing was done for it yet, or it waits for the result of another call with its idempotency key.
 * - `authorizing`: waits for the decision.
 * - `queued`: waits for a free slot of the agent.
 * - `running`: was sent.
 * - `canceling`: was sent, and so was its cancellation. The agent still owes a result, and the slot is taken, also where
 *   the call has ended for its caller.
 * - `ended`
 */
export type CallState = "opened" | "authorizing" | "queued" | "running" | "canceling" | "ended";

/** One call, from its acceptance on. Its session moves it from state to state; this settles it exactly once. */
export class Call implements ToolCall {
  readonly callId = randomUUID();
  /** By `elapsedMs` of the clock. */
  readonly startedMs: number;
  readonly timeoutMs: number;
  readonly result: Promise<CallResult>;
  readonly span: Span | undefined;
  state: CallState = "opened";
  /** When it expires, by the deadlines of its session. */
  dueMs = Number.POSITIVE_INFINITY;
  isSent = false;
  /** Its beginning is in the audit. */
  isStartRecorded = false;
  /** Its result is what the agent reported of it. */
  isAnswered = false;
  readonly #calls: SessionCalls;
  readonly #context: CoreContext;
  #stream: CallStream | undefined;
  #settle: ((result: CallResult) => void) | undefined;
  #onAbort: (() => void) | undefined;

  constructor(
    public tool: RegisteredTool,
    public input: JsonObject,
    readonly options: CallOptions,
    calls: SessionCalls,
    context: CoreContext,
  ) {
    const { signal, timeoutMs } = options;
    this.startedMs = context.clock.elapsedMs();
    this.timeoutMs = timeoutMs ?? context.times.timeoutMs;
    this.#calls = calls;
    this.#context = context;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.span = startSpan(() => ({
      ...remoteCallSpan("core", this.toolId, this.callId, input),
      parent: readTraceContext(options.context),
    }));
    if (!signal) return;
    this.#onAbort = () => this.cancel("aborted");
    sharedSignal(signal).addEventListener("abort", this.#onAbort, { once: true });
  }

  get toolId(): string {
    return this.tool.info.tool_id;
  }

  get settled(): boolean {
    return this.#settle === undefined;
  }

  get requestId(): string {
    return this.options.requestId ?? this.callId;
  }

  get correlationId(): string {
    return this.options.correlationId ?? this.requestId;
  }

  get causationId(): string | undefined {
    return this.options.causationId ?? this.options.directiveId;
  }

  get stream(): CallStream {
    if (!this.#stream) {
      this.#stream = new CallStream(this.#context);
      if (this.settled) this.#stream.end();
    }
    return this.#stream;
  }

  /** Making the call again cannot do its work twice. */
  get isRepeatable(): boolean {
    return this.tool.info.side_effects === false || this.options.idempotencyKey !== undefined;
  }

  cancel(reason?: string): void {
    if (!this.settled) this.#calls.cancel(this, reason);
  }

  /** Gives the caller the result. Returns false when it has one already. */
  settle(result: CallResult, isAnswered: boolean): boolean {
    const settle = this.#settle;
    if (!settle) return false;
    this.#settle = undefined;
    this.isAnswered = isAnswered;
    if (this.#onAbort) this.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#stream?.end();
    if (result.status === "succeeded") recordOutcome(this.span, result);
    else recordOutcome(this.span, { status: result.status, code: result.error.code });
    this.span?.end();
    settle(result);
    return true;
  }
}

/** A call that ended before it began. */
export const endedCall = (result: CallResult): ToolCall => ({
  callId: randomUUID(),
  result: Promise.resolve(result),
  stream: (async function* () {})(),
  cancel() {},
});
