import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { EnvironmentState, PrivacyTier } from "@harnesskit/protocol/openharness";
import { callSafely } from "@harnesskit/wire";
import type { Subject } from "./inbound.ts";

/**
 * One line of an engine's log. The user's intent, the content of `auth` and of directives and the message of a failure
 * are never in it. Where the environment is restricted or not classified, its values and the user's intent are removed from what
 * handlers log, too; where it is secret, details of handlers are left out.
 */
export interface ShellLogLine {
  /** `request` at its end; or what a handler logged. */
  readonly event: string;
  readonly level: "info" | "warn";
  readonly request_id?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly traceparent?: string | undefined;
  /** The header `X-Request-ID`, which a proxy may have set. */
  readonly http_request_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly conversation_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly shell_kind?: string | undefined;
  readonly privacy_tier?: PrivacyTier | undefined;
  /** Only of a state that is public. */
  readonly environment_state?: EnvironmentState | undefined;
  readonly outcome?: "success" | "error";
  readonly error_code?: string | undefined;
  readonly duration_ms?: number;
  /** The response was remembered. */
  readonly is_replay?: boolean;
  /** Types of the directives that were sent. */
  readonly action_types?: readonly string[] | undefined;
  readonly details?: JsonObject | undefined;
}

export type WriteLog = (line: ShellLogLine) => unknown;

/** Writes lines, each as far as its request's privacy tier lets it. */
export class ShellLog {
  readonly #write: WriteLog | undefined;

  constructor(write: WriteLog | undefined) {
    this.#write = write;
  }

  /** Whether lines are written at all. */
  get isOn(): boolean {
    return this.#write !== undefined;
  }

  write(
    subject: Subject,
    line: Pick<
      ShellLogLine,
      "event" | "level" | "outcome" | "error_code" | "duration_ms" | "is_replay" | "action_types" | "details"
    >,
  ): void {
    const write = this.#write;
    if (!write) return;
    const { request, requestId, correlationId, trace, sessionId, runId, redact } = subject;
    const context = request?.request.context;
    const state = context?.environment_state;
    const tier = state?.privacy_tier;
    const isPublic = tier === "public";
    // What the engine says itself stays readable, whatever a shell has put into its state.
    const { details, ...own } = line;
    const shown = {
      request_id: requestId,
      correlation_id: correlationId,
      traceparent: trace.traceparent,
      http_request_id: trace.requestId,
      session_id: sessionId ?? context?.session_id,
      conversation_id: context?.conversation_id,
      run_id: runId,
      shell_kind: context?.shell?.shell_kind,
      environment_state: isPublic ? state : undefined,
      details: tier === "secret" ? undefined : details,
    };
    const whole: Record<string, unknown> = {};
    for (const [name, value] of Object.entries({ ...own, privacy_tier: tier })) {
      if (value !== undefined) whole[name] = value;
    }
    for (const [name, value] of Object.entries(shown)) {
      if (value !== undefined) whole[name] = redact(value as JsonObject);
    }
    callSafely(() => write(whole as unknown as ShellLogLine));
  }
}
