import type { JsonObject } from "@harnesskit/protocol/envelope";
import type {
  ActionDirective,
  CapabilityDenial,
  Continuation,
  ShellError,
  ShellResponse,
} from "@harnesskit/protocol/openharness";
import type { ShellClientError } from "./shell-client-error.ts";

/** What became of a directive. */
export type DirectiveOutcome =
  /** It was carried out. */
  | "done"
  /** The user or the policy said no, or no user could be asked. Where none could, its text or a sentence about it was shown. */
  | "refused"
  /** It is not valid or its payload does not fit its type, and its text was shown, if it had one; or what carries it out threw or took too long. */
  | "failed"
  /** Its `deadline_ms` was over before it was done. */
  | "expired"
  /** This shell does not know the type: nothing was done but to show its message, if it had one. */
  | "skipped_unknown"
  /** The caller's signal ended the work before, or an error is beside it. */
  | "not_reached"
  /** A `request_approval` that has its answer. */
  | "answered"
  /** A `request_approval` whose answer comes later. */
  | "pending";

/** Why a directive was not carried out. */
export type DirectiveErrorCode =
  | "refused_by_user"
  | "refused_by_policy"
  /** The user must be asked, and there is no `approve`. */
  | "no_approver"
  /** `approve` gave no decision, or none in time. */
  | "not_answered"
  /** `approve` threw, or returned something that is not an answer. */
  | "approval_failed"
  /** The answer was about another directive. */
  | "approval_mismatch"
  /** A `request_approval` that was not answered at once, and that nothing says how to answer later. */
  | "no_continuation"
  /** One of its fields is missing, or has a value that the protocol does not know. */
  | "invalid_directive"
  | "invalid_payload"
  | "executor_failed"
  | "executor_timeout"
  | "deadline_exceeded"
  | "unknown_action_type"
  | "cancelled"
  | "engine_error";

export interface DirectiveError {
  readonly code: DirectiveErrorCode;
  readonly message: string;
  /** What was thrown. */
  readonly cause?: unknown;
}

/** What became of one directive. */
export interface DirectiveResult {
  /** As it was received: frozen, and the very object that was approved and carried out. Of one that is not valid, its type and payload. */
  readonly directive: ActionDirective;
  /** Its place in its response. */
  readonly index: number;
  /** The request that it answers. */
  readonly requestId: string;
  readonly outcome: DirectiveOutcome;
  /** What its executor returned. */
  readonly value?: unknown;
  /** The text that was shown in its place: the type is unknown, it is not valid, its payload does not fit, or no user could be asked. */
  readonly shownInstead?: string | undefined;
  readonly error?: DirectiveError | undefined;
}

/** A question of the engine that waits for its answer. Plain JSON, which any shell of the same session can answer. */
export interface PendingApproval {
  readonly directive: ActionDirective;
  /** Of `approvalSubject(directive)`. */
  readonly digest: string;
  readonly continuation: Continuation;
}

/** What came of one call. */
export interface ShellOutcome {
  /** `success` where every request of the call, the answers to approvals among them, was answered with success. */
  readonly status: "success" | "error";
  /** Of the engine, or in the place of one: see `failure`. Set exactly with `status: "error"`. Its texts are the engine's. */
  readonly error?: ShellError | undefined;
  /** Why there was no response that could be used. */
  readonly failure?: ShellClientError | undefined;
  /** The last response. Undefined if no usable response came. */
  readonly response: ShellResponse | undefined;
  /** Features that the engine denied, of all responses of the call. */
  readonly denials: readonly CapabilityDenial[];
  /** Of all responses of the call, in the order in which they came, and in each by place. */
  readonly results: readonly DirectiveResult[];
  /** Questions of the engine that were not answered yet. */
  readonly pendingApprovals: readonly PendingApproval[];
}

export type ShellDiagnosticCode =
  /** A directive of a type that the shell does not know. */
  | "unknown_action_type"
  /** A directive that is not valid. */
  | "invalid_directive"
  /** A directive whose payload does not fit its type. */
  | "invalid_payload"
  /** Directives came with an error; none was carried out. */
  | "directives_with_error"
  /** Keys of an environment_state stayed here. */
  | "environment_withheld"
  /** A request is sent once more. */
  | "retry"
  /** An answer came too late, a second time, or to no request. It was dropped. */
  | "late_response"
  /** Something arrived on a channel that is not a message. It was dropped. */
  | "invalid_message"
  /** There were more questions in a row than `maxFollowUps`. */
  | "follow_ups_exhausted";

/** A diagnostic for developers of a shell. Nothing of a payload or of an environment_state is in it. */
export interface ShellDiagnostic {
  readonly code: ShellDiagnosticCode;
  readonly message: string;
  readonly requestId?: string;
  /** Of the directive; made safe to show. */
  readonly actionType?: string;
  readonly details?: JsonObject;
}
