import type { AuditAction } from "@harnesskit/audit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { CallOptions } from "./call-options.ts";
import type { CallResult } from "./call-result.ts";
import { CallStream, type StreamChunk } from "./call-stream.ts";
import type { CoreLimits } from "./core-limits.ts";
import type { Deadline } from "./deadlines.ts";
import type { RegisteredTool } from "./registered-tool.ts";

/** A call that was made. */
export interface ToolCall {
  readonly callId: string;
  /** How it ends. Never rejects: every outcome is a {@link CallResult}. */
  readonly result: Promise<CallResult>;
  /**
   * What it says while it runs, for one reader. Ends when the call does. Chunks that nobody reads wait within
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
 * - `authorizing`: waits for the decision; counts as waiting.
 * - `queued`: waits for a place.
 * - `joined`: waits for another call with its idempotency key.
 * - `running`: was sent.
 * - `canceling`: was sent, and so was its cancellation.
 * - `lingering`: has ended for its caller; the agent still owes a result, and the place is still taken.
 * - `ended`
 */
export type CallState = "authorizing" | "queued" | "joined" | "running" | "canceling" | "lingering" | "ended";

/** Who moves a call on. */
export interface CallOwner {
  cancel(call: Call, reason: string | undefined): void;
  expired(call: Call): void;
}

/** One call, from its acceptance on. Its owner decides; this keeps what belongs to it and settles it exactly once. */
export class Call implements ToolCall, Deadline {
  readonly callId: string;
  readonly toolId: string;
  readonly options: CallOptions;
  readonly startedAt: number;
  readonly timeoutMs: number;
  readonly result: Promise<CallResult>;
  tool: RegisteredTool;
  input: JsonObject;
  state: CallState = "authorizing";
  /** The id of the message that it was sent with. */
  messageId = "";
  /** The number of the last stream chunk. */
  lastSeq = 0;
  streamDone = false;
  /** Its beginning in the audit, once it was sent. */
  audited: AuditAction | undefined;
  /** Calls that get the same result. */
  joiners: Set<Call> | undefined;
  /** The call whose result this one gets. */
  joinedTo: Call | undefined;
  /** Called with the result that joined calls get, also when this call's own caller has left before. */
  onOutcome: ((result: CallResult, fromAgent: boolean) => void) | undefined;
  dueAt = 0;
  position = -1;
  readonly #owner: CallOwner;
  readonly #limits: CoreLimits;
  #stream: CallStream | undefined;
  #settle: ((result: CallResult) => void) | undefined;
  #onAbort: (() => void) | undefined;

  constructor(options: {
    readonly callId: string;
    readonly tool: RegisteredTool;
    readonly input: JsonObject;
    readonly options: CallOptions;
    readonly startedAt: number;
    readonly timeoutMs: number;
    readonly owner: CallOwner;
    readonly limits: CoreLimits;
  }) {
    this.callId = options.callId;
    this.tool = options.tool;
    this.toolId = options.tool.info.tool_id;
    this.input = options.input;
    this.options = options.options;
    this.startedAt = options.startedAt;
    this.timeoutMs = options.timeoutMs;
    this.#owner = options.owner;
    this.#limits = options.limits;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const { signal } = options.options;
    if (signal) {
      this.#onAbort = () => this.cancel("aborted");
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
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
      this.#stream = new CallStream(this.#limits);
      if (this.settled) this.#stream.end();
    }
    return this.#stream;
  }

  cancel(reason?: string): void {
    if (!this.settled) this.#owner.cancel(this, reason);
  }

  expired(): void {
    this.#owner.expired(this);
  }

  /** Gives the caller the result. Returns false when it has one already. */
  settle(result: CallResult): boolean {
    const settle = this.#settle;
    if (!settle) return false;
    this.#settle = undefined;
    if (this.#onAbort) this.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#onAbort = undefined;
    this.#stream?.end();
    settle(result);
    return true;
  }
}

const emptyStream: AsyncIterable<StreamChunk> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** A call that ended before it began. */
export const endedCall = (callId: string, result: CallResult): ToolCall => ({
  callId,
  result: Promise.resolve(result),
  stream: emptyStream,
  cancel() {},
});
