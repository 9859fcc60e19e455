import { type Clock, type HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import type { AhpClient } from "../client-options.ts";
import type { EventFields } from "../events.ts";

/** What supervision uses of a client. */
export type SupervisingClient = Pick<AhpClient, "sendTyped" | "notify" | "supports" | "sessionId">;

/** What a person is asked. */
export interface EscalationRequest {
  readonly eventType: "pre_action" | "pre_prompt";
  /** Why: the harness's reason, or that the tool needs approval. Untrusted text. */
  readonly reason: string;
  /** Whom the harness wants to be asked, where it says so. */
  readonly target?: string;
  /** What would happen, safe to show: of a tool all of its arguments, of a prompt its size and its last message. */
  readonly message: string;
  /** The tool, for `pre_action`. */
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** The payload of the event: all that would run, or the prompt as the harness saw it. */
  readonly payload: unknown;
  /** Aborts when the answer is not waited for any more. */
  readonly signal: AbortSignal;
}

export interface EscalationAnswer {
  readonly approved: boolean;
  readonly reason?: string;
}

export interface SupervisionOptions {
  /**
   * Asks a person where the harness escalates, and for tools with `needsApproval`. What throws or is no approval refuses.
   * @default the harness is asked with a `confirmation` event; where it does not decide these, nothing runs
   */
  readonly onEscalate?: (request: EscalationRequest) => EscalationAnswer | PromiseLike<EscalationAnswer>;
  /** How long `onEscalate` may take, in milliseconds. @default 600000 (10 min) */
  readonly escalationTimeoutMs?: number;
  /**
   * The largest prompt or arguments in an event, in bytes of JSON. Larger arguments are refused; of a larger prompt the
   * harness sees a part, marked `truncated`. @default 1048576 (1 MiB)
   */
  readonly maxEventTextBytes?: number;
  /** The largest text in `post_action` and `post_response`, in bytes; more is cut. @default 16384 (16 KiB) */
  readonly maxReportTextBytes?: number;
  /** What becomes of a prompt above `maxEventTextBytes`. @default "truncate" */
  readonly oversizePrompt?: "truncate" | "refuse";
  /** How often one prompt or call may be modified before it is refused. @default 3 */
  readonly maxModifications?: number;
  /** How often one prompt or call may be put off before it is refused. @default 3 */
  readonly maxDeferrals?: number;
  /** How long one prompt or call may be put off in all, in milliseconds. @default 30000 */
  readonly maxDeferMs?: number;
  /** Calls of the model for one request, the first included, where its provider limits the rate. @default 3 */
  readonly maxRateLimitAttempts?: number;
  /** The longest wait before another attempt, in milliseconds; where more is demanded there is none. @default 60000 */
  readonly maxRateLimitWaitMs?: number;
  /** Requests of one supervised model that the harness may have queued; one more fails. @default 100 */
  readonly maxQueued?: number;
  /**
   * Who approves a tool with `needsApproval`. `harness`: whoever answers an escalation, when the call is about to run.
   * `sdk`: the flow of the AI SDK; if the harness then modifies the arguments, they are confirmed as with `harness`.
   * @default "harness"
   */
  readonly approvals?: "harness" | "sdk";
  /** Depth, context and metadata of the events, or what tells them for each event. @default none */
  readonly fields?: EventFields | (() => EventFields);
  /** Told of a report that could not be sent; the work goes on. What it throws is ignored. @default nobody is told */
  readonly onError?: (error: HarnessError) => void;
  /** For waits and durations. @default the real time; a wait keeps the process alive */
  readonly clock?: Clock;
}

type Optional = "onEscalate" | "onError" | "fields";

export type ResolvedSupervision = Required<Omit<SupervisionOptions, Optional>> &
  Pick<SupervisionOptions, "onEscalate" | "onError"> & { readonly fields: () => EventFields };

const maxTimerMs = 2 ** 31 - 1;

/** Real time whose waits keep the process alive: whoever waits to ask again has work to do. */
const waitingClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, maxTimerMs));
    return () => clearTimeout(timer);
  },
};

const whole = (name: string, value: number, min: number): number => {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new InvalidArgumentError(`${name} is a whole number, at least ${min}`);
};

const oneOf = <T extends string>(name: string, value: T, values: readonly T[]): T => {
  if (values.includes(value)) return value;
  throw new InvalidArgumentError(`${name} is one of ${values.join(", ")}`);
};

/** Fills in the defaults. Throws `invalid_argument` for what cannot be used. */
export const resolveSupervision = (options: SupervisionOptions): ResolvedSupervision => {
  const { onEscalate, onError, fields = {}, clock = waitingClock } = options;
  const count = (name: keyof SupervisionOptions, fallback: number, min: number): number =>
    whole(name, (options[name] as number | undefined) ?? fallback, min);
  return {
    ...(onEscalate && { onEscalate }),
    ...(onError && { onError }),
    fields: typeof fields === "function" ? fields : () => fields,
    clock,
    escalationTimeoutMs: count("escalationTimeoutMs", 600_000, 1),
    maxEventTextBytes: count("maxEventTextBytes", 1024 * 1024, 1000),
    maxReportTextBytes: count("maxReportTextBytes", 16 * 1024, 0),
    oversizePrompt: oneOf("oversizePrompt", options.oversizePrompt ?? "truncate", ["truncate", "refuse"]),
    maxModifications: count("maxModifications", 3, 0),
    maxDeferrals: count("maxDeferrals", 3, 0),
    maxDeferMs: count("maxDeferMs", 30_000, 0),
    maxRateLimitAttempts: count("maxRateLimitAttempts", 3, 1),
    maxRateLimitWaitMs: count("maxRateLimitWaitMs", 60_000, 0),
    maxQueued: count("maxQueued", 100, 0),
    approvals: oneOf("approvals", options.approvals ?? "harness", ["harness", "sdk"]),
  };
};
