import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import type { ToolContext as SharedToolContext } from "@harnesskit/wire/tool";
import type { ToolCall } from "./tool-call.ts";

/** What ties a call to others. */
export interface CallOrigin {
  readonly request_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly causation_id?: string | undefined;
  readonly actor?: Actor | undefined;
}

/**
 * What the tool of a call receives. The stream is made when the tool uses it. All properties are its
 * own, so that a tool may copy it and hand it on. A class: a literal with a getter has another shape for each call, which costs a third of a call.
 */
export class CallToolContext implements SharedToolContext {
  /**
   * Streams text. The promise settles when there is room for more; it never rejects. A tool that does not wait loses
   * text, with a mark in its place, when the core reads more slowly than it writes.
   */
  readonly stdout = (text: string): Promise<void> => this.#call.stream.text("stdout", text);
  readonly stderr = (text: string): Promise<void> => this.#call.stream.text("stderr", text);
  readonly log = (text: string): Promise<void> => this.#call.stream.text("log", text);
  /** What the tool is doing now. */
  readonly status = (text: string): Promise<void> => this.#call.stream.text("status", text);
  /** Streams a JSON object. Throws `invalid_argument` for anything else. */
  readonly partialResult = (json: object): Promise<void> => this.#call.stream.partial(json);
  /**
   * Aborts when the work is no longer wanted. `reason.code` is `tool.canceled`, `tool.timeout`, `connection_closed`
   * (the core is gone), `agent_stopping` or `tool.failed` (another part of the call failed).
   */
  declare readonly signal: AbortSignal;
  readonly callId: string;
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly causationId: string | undefined;
  /** The same key means the same call, made again. */
  readonly idempotencyKey: string | undefined;
  /** Metadata, never an authorization. */
  readonly caller: Caller | undefined;
  /** Metadata, never an authorization. */
  readonly actor: Actor | undefined;
  /** When the call runs out of time. */
  readonly deadline: Date | undefined;
  readonly projectRoot: string | undefined;
  readonly resourcePaths: readonly string[];
  readonly ui: JsonObject | undefined;
  readonly #call: ToolCall;

  /** One getter for all contexts: a signal is a tenth of a small call, and most tools never read theirs. */
  static readonly #signal: PropertyDescriptor & ThisType<CallToolContext> = {
    enumerable: true,
    get() {
      return this.#call.signal;
    },
  };

  constructor(call: ToolCall) {
    const { payload, origin, startedAt, timeoutMs } = call;
    const { context } = payload;
    this.#call = call;
    Object.defineProperty(this, "signal", CallToolContext.#signal);
    this.callId = payload.call_id;
    this.requestId = origin.request_id;
    this.correlationId = origin.correlation_id;
    this.causationId = origin.causation_id;
    this.idempotencyKey = payload.idempotency_key;
    this.caller = payload.caller;
    this.actor = origin.actor;
    this.deadline = timeoutMs === Infinity ? undefined : new Date(startedAt + timeoutMs);
    this.projectRoot = context?.project_root;
    this.resourcePaths = context?.resource_paths ?? [];
    this.ui = context?.ui;
  }
}

/**
 * What a running tool knows about its call, and how it streams before its result. The functions may be destructured
 * (`run(input, { signal, stdout })`). After the call's end they do nothing.
 */
export type ToolContext = { readonly [Field in keyof CallToolContext]: CallToolContext[Field] };
