import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { EnvironmentState, PrivacyTier } from "@harnesskit/protocol/openharness";
import { callSafely } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { EngineRequest } from "./engine-request.ts";

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

/** Writes a line, as far as its request's privacy tier lets it. */
export const writeLog = (
  write: WriteLog | undefined,
  { asked, requestId, correlationId, trace, sessionId, claims, redact }: EngineRequest<unknown>,
  { details, ...own }: ShellLogLine,
): void => {
  if (!write) return;
  const state = asked.environment_state;
  const tier = state?.privacy_tier;
  const shown = <T extends JsonValue>(value: T | undefined): T | undefined =>
    value === undefined ? undefined : redact(value);
  const line: ShellLogLine = {
    // What the engine says itself stays readable, whatever a shell has put into its state.
    ...own,
    privacy_tier: tier,
    request_id: shown(requestId),
    correlation_id: shown(correlationId),
    traceparent: shown(trace.traceparent),
    http_request_id: shown(trace.requestId),
    session_id: shown(sessionId ?? asked.session_id),
    conversation_id: shown(asked.conversation_id),
    run_id: shown(claims?.run),
    shell_kind: shown(asked.shell?.shell_kind),
    environment_state: tier === "public" ? shown(state) : undefined,
    details: tier === "secret" ? undefined : shown(details),
  };
  callSafely(() => write(defined({ ...line })));
};
