import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Actor, Caller, CoreToolCall } from "@harnesskit/protocol/runtime";
import type { CallStream } from "./call-stream.ts";

/**
 * What a running tool knows of its call, and how it speaks before its result. The functions may be taken out
 * (`run(input, { signal, stdout })`). After the call's end they do nothing.
 */
export interface ToolContext {
  /**
   * Aborts when the work is no longer wanted. `reason.code` is `tool.canceled`, `tool.timeout`, `connection_closed`
   * (the core is gone), `agent_stopping` or `tool.failed` (another part of the call failed).
   */
  readonly signal: AbortSignal;
  /**
   * Streams text. The promise settles when there is room for more; it never rejects. A tool that does not wait loses
   * text, with a mark in its place, when the core reads more slowly than it writes.
   */
  readonly stdout: (text: string) => Promise<void>;
  readonly stderr: (text: string) => Promise<void>;
  readonly log: (text: string) => Promise<void>;
  /** What the tool is doing now; of those that wait for a slow core only the last is sent. */
  readonly status: (text: string) => Promise<void>;
  /** Streams a JSON object. Throws `invalid_argument` for anything else. */
  readonly partialResult: (json: object) => Promise<void>;
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
}

/** What a call asks for. */
export type CallPayload = CoreToolCall["payload"];

/** What ties a call to others. */
export interface CallOrigin {
  readonly request_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly causation_id?: string | undefined;
  readonly actor?: Actor | undefined;
}

interface ContextSource {
  readonly signal: AbortSignal;
  readonly stream: CallStream;
  readonly payload: CallPayload;
  readonly origin: CallOrigin;
  readonly deadlineAt: number | undefined;
}

/** Costs nothing for what a tool does not look at. */
export class LazyToolContext implements ToolContext {
  readonly #source: ContextSource;

  constructor(source: ContextSource) {
    this.#source = source;
  }

  get signal(): AbortSignal {
    return this.#source.signal;
  }
  get stdout(): ToolContext["stdout"] {
    return (text) => this.#source.stream.text("stdout", text);
  }
  get stderr(): ToolContext["stderr"] {
    return (text) => this.#source.stream.text("stderr", text);
  }
  get log(): ToolContext["log"] {
    return (text) => this.#source.stream.text("log", text);
  }
  get status(): ToolContext["status"] {
    return (text) => this.#source.stream.text("status", text);
  }
  get partialResult(): ToolContext["partialResult"] {
    return (json) => this.#source.stream.partial(json);
  }
  get callId(): string {
    return this.#source.payload.call_id;
  }
  get requestId(): string | undefined {
    return this.#source.origin.request_id;
  }
  get correlationId(): string | undefined {
    return this.#source.origin.correlation_id;
  }
  get causationId(): string | undefined {
    return this.#source.origin.causation_id;
  }
  get idempotencyKey(): string | undefined {
    return this.#source.payload.idempotency_key;
  }
  get caller(): Caller | undefined {
    return this.#source.payload.caller;
  }
  get actor(): Actor | undefined {
    return this.#source.origin.actor;
  }
  get deadline(): Date | undefined {
    const { deadlineAt } = this.#source;
    return deadlineAt === undefined ? undefined : new Date(deadlineAt);
  }
  get projectRoot(): string | undefined {
    return this.#source.payload.context?.project_root;
  }
  get resourcePaths(): readonly string[] {
    return this.#source.payload.context?.resource_paths ?? [];
  }
  get ui(): JsonObject | undefined {
    return this.#source.payload.context?.ui;
  }
}
