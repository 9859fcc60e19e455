import type {
  ActionDirective,
  ActionType,
  Capabilities,
  CapabilityDenial,
  Continuation,
  RiskTier,
  ShellIdentity,
} from "@harnesskit/protocol/openharness";
import type { BackoffOptions, Clock, CreateId } from "@harnesskit/wire";
import type { EngineEndpoint } from "./engine.ts";
import type { EnvironmentPolicy } from "./environment.ts";
import type { ShellClientLimits } from "./limits.ts";
import type { DirectiveResult, ShellDiagnostic } from "./shell-outcome.ts";
import type { ShellStreamEvent } from "./streaming/stream-events.ts";

/** Where a conversation is. Plain JSON, to be stored and given to a later client. */
export interface ShellSession {
  readonly sessionId: string;
  /** A thread of the session. */
  readonly conversationId?: string | undefined;
  /** What the next request shows, once. */
  readonly continuation?: Continuation | undefined;
}

/** What an executor knows beside its directive. */
export interface ExecutorCall {
  /** Aborts at the deadline, when the time limit is over, or when the caller gives up. */
  readonly signal: AbortSignal;
  /** When `deadline_ms` is over, in milliseconds since the epoch. */
  readonly deadlineAtMs: number | undefined;
  readonly requestId: string;
  /** The directive's place in its response. */
  readonly index: number;
}

/** Carries out a directive, which is frozen. What it returns is the result's `value`; what it throws makes it `failed`. */
export type DirectiveExecutor = (directive: ActionDirective, call: ExecutorCall) => unknown;

/** A question to the user. */
export interface ApprovalAsk {
  /** What would happen. Frozen, and the very object that is carried out after a yes. Its texts are the engine's. */
  readonly directive: ActionDirective;
  /** Of `approvalSubject(directive)`: what the answer is bound to. */
  readonly digest: string;
  readonly riskTier: RiskTier;
  /** Who wants it: the directive (`requires_user_approval`), this shell's policy for the tier, or an engine that asks (`request_approval`). */
  readonly why: "directive" | "risk" | "engine";
  /** Aborts when an answer is of no use any more. */
  readonly signal: AbortSignal;
  /** When the directive's `deadline_ms` is over, in milliseconds since the epoch. */
  readonly deadlineAtMs: number | undefined;
}

export type ApprovalDecision = "approved" | "refused";

/** A decision, or one with what the user said. With a `digest` it counts for that directive alone. */
export type ApprovalReply =
  | ApprovalDecision
  | { readonly decision: ApprovalDecision; readonly reason?: string | undefined; readonly digest?: string };

/** What happens with directives of a risk tier: carried out, only after a yes, or never. */
export type TierRule = "run" | "ask" | "refuse";

/** The rules of tiers. @default those of {@link ShellClientOptions.approvalPolicy} */
export type ApprovalPolicy = { readonly [Tier in RiskTier]?: TierRule | undefined };

export interface ShellRetryOptions extends BackoffOptions {
  /** Attempts of one request. @default 5 */
  readonly maxAttempts?: number | undefined;
  /** The longest wait after the first attempt, in milliseconds. @default 500 */
  readonly initialDelayMs?: number | undefined;
}

/** Who asks, by reference (section 7). Secrets belong into the transport. */
export interface AuthReferences {
  readonly tenant_id?: string;
  readonly credential_ref?: string;
  readonly session_id?: string;
}

export interface ShellClientOptions {
  /** The engine: an exchange, such as `createHttpExchange`, a `ShellEngine` in this process, or a transport. */
  readonly engine: EngineEndpoint;
  /** @default the platform's locale and time zone alone */
  readonly shell?: ShellIdentity | undefined;
  /** @default a new one */
  readonly session?: ShellSession | undefined;
  /** @default none */
  readonly auth?: AuthReferences | undefined;
  /**
   * What carries directives out, by their types. What has none here is unknown, but for `noop`, which does nothing, and
   * `request_approval`, which goes to `approve`; with one here its question is left in `pendingApprovals`. @default none
   */
  readonly executors?: Readonly<Record<string, DirectiveExecutor>> | undefined;
  /** Types beside the core ones, or in their places: their payloads' schemas, and how dangerous they are. @default none */
  readonly actionTypes?: readonly ActionType[] | undefined;
  /**
   * What the shell says that it can do, over what follows from the other options: approvals where there is `approve`, rich
   * cards where `render_ui` has an executor, parallel actions, and what registered types with an executor need. False
   * takes one away. Streaming follows from `onStream`. @default nothing more
   */
  readonly capabilities?: Capabilities | undefined;
  /**
   * Asks the user, one question at a time for each call. Only `approved` is a yes. Without an answer (undefined) a directive is
   * then refused, a `request_approval` stays pending. Any other reply, such as `true`, is `approval_failed`. The answer to a
   * `request_approval` that has no continuation is sent as the intent of the next request. @default no approver: what needs a yes is refused
   */
  readonly approve?:
    | ((ask: ApprovalAsk) => ApprovalReply | undefined | Promise<ApprovalReply | undefined>)
    | undefined;
  /**
   * The rule of each tier. A directive has the higher of the tier that it states and that of its type; a type that is not
   * registered has at least `caution`. @default safe runs, caution and dangerous ask
   */
  readonly approvalPolicy?: ApprovalPolicy | undefined;
  /** Whether the answer to a `request_approval` is sent by itself. Otherwise the question stays pending. @default true */
  readonly answerApprovals?: boolean | undefined;
  /** What of an environment_state leaves. @default nothing does */
  readonly environment?: EnvironmentPolicy | undefined;
  /** @default see each limit of `shellClientLimits` */
  readonly limits?: Partial<ShellClientLimits> | undefined;
  /**
   * How often, and how far apart, a request is tried whose failure is retryable, such as a connection that cannot be opened or was
   * lost. @default 5 attempts, from 500 ms to 30 s apart
   */
  readonly retry?: ShellRetryOptions | undefined;
  /** How long each attempt waits for its response, and within a stream for its next frame. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Receives the features that the engine denied, before any directive of the response is carried out: after an abort of the call's
   * signal in it nothing is carried out. What it throws is ignored. @default no report
   */
  readonly onDenials?: ((denials: readonly CapabilityDenial[]) => unknown) | undefined;
  /**
   * Receives previews of a response while the engine makes it (`dev.harnesskit.stream`), where the engine offers that and `engine` can carry it;
   * `openharness.streaming` is declared then. What it throws is ignored. @default no streams: one response to each request
   */
  readonly onStream?: ((event: ShellStreamEvent) => unknown) | undefined;
  /** What it throws is ignored. @default no report */
  readonly onDiagnostic?: ((diagnostic: ShellDiagnostic) => unknown) | undefined;
  /** Receives each result as soon as it is there. What it throws is ignored. @default no report */
  readonly onResult?: ((result: DirectiveResult) => unknown) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** Makes ids of sessions (`sess`), requests (`req`) and correlations (`corr`). @default 128 random bits */
  readonly createId?: CreateId | undefined;
}
