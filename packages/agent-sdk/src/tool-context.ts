import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import type { ToolContext as SharedToolContext } from "@harnesskit/wire/tool";
import type { ToolCall } from "./tool-call.ts";

/**
 * What a running tool knows about its call, and how it streams before its result. The functions may be destructured
 * (`run(input, { signal, stdout })`). After the call's end they do nothing.
 */
export interface ToolContext extends SharedToolContext {
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
  /** What the tool is doing now. */
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

/** What ties a call to others. */
export interface CallOrigin {
  readonly request_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly causation_id?: string | undefined;
  readonly actor?: Actor | undefined;
}

/** What the tool of a call receives. Signal and stream are made when the tool uses them; a tool may copy it and hand it on. */
export const toToolContext = (call: ToolCall): ToolContext => {
  const { payload, origin, startedAt, timeoutMs } = call;
  const { context } = payload;
  return {
    get signal() {
      return call.signal;
    },
    stdout: (text) => call.stream.text("stdout", text),
    stderr: (text) => call.stream.text("stderr", text),
    log: (text) => call.stream.text("log", text),
    status: (text) => call.stream.text("status", text),
    partialResult: (json) => call.stream.partial(json),
    callId: payload.call_id,
    requestId: origin.request_id,
    correlationId: origin.correlation_id,
    causationId: origin.causation_id,
    idempotencyKey: payload.idempotency_key,
    caller: payload.caller,
    actor: origin.actor,
    deadline: timeoutMs === Infinity ? undefined : new Date(startedAt + timeoutMs),
    projectRoot: context?.project_root,
    resourcePaths: context?.resource_paths ?? [],
    ui: context?.ui,
  };
};
