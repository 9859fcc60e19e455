import { type Clock, checkNumber, defineLimits, type HarnessError, systemClock } from "@harnesskit/wire";
import type { AhpClient } from "../client-options.ts";
import type { EventFields } from "../events.ts";
import { checkSupervisionOptions } from "../option-names.ts";

/** What supervision uses of a client. */
export type SupervisingClient = Pick<AhpClient, "decide" | "notify" | "sessionId">;

/** What a person is asked. */
export interface EscalationRequest {
  readonly eventType: "pre_action" | "pre_prompt";
  /** Why: the harness's reason, or that the tool needs approval. Untrusted text. */
  readonly reason: string;
  /** Whom the harness wants to be asked, where it says so. */
  readonly target?: string | undefined;
  /** What would happen, safe to show: of a tool all of its arguments, of a prompt its size and its last message. */
  readonly message: string;
  /** The tool, for `pre_action`. */
  readonly toolName?: string | undefined;
  readonly toolCallId?: string | undefined;
  /** The payload of the event: all that would run, or the prompt as the harness saw it. */
  readonly payload: unknown;
  /** Aborts when the answer is not waited for any more. */
  readonly signal: AbortSignal;
}

export interface EscalationAnswer {
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

const supervisionLimits = defineLimits({
  maxEventTextBytes: { default: 1024 * 1024, min: 1000 },
  maxReportTextBytes: { default: 16 * 1024, min: 0 },
  maxModifications: { default: 3, min: 0 },
  maxDeferrals: { default: 3, min: 0 },
  maxDeferMs: { default: 30_000, min: 0 },
});

export interface SupervisionOptions {
  /**
   * Asks a person where the harness escalates, and for tools with `needsApproval`. Anything but an approval refuses, also an error.
   * @default the harness is asked with a `confirmation` event; where it does not decide these, nothing runs
   */
  readonly onEscalate?:
    | ((request: EscalationRequest) => EscalationAnswer | PromiseLike<EscalationAnswer>)
    | undefined;
  /** How long `onEscalate` may take, in milliseconds. @default 600000 (10 min) */
  readonly escalationTimeoutMs?: number | undefined;
  readonly limits?:
    | {
        /**
         * The largest prompt or arguments in an event, in bytes of JSON. Larger arguments are refused; of a larger prompt the
         * harness sees a part, marked `truncated`. @default 1048576
         */
        readonly maxEventTextBytes?: number | undefined;
        /** The longest string in `post_action` and `post_response`, in bytes; more is cut. @default 16384 */
        readonly maxReportTextBytes?: number | undefined;
        /** How often one prompt or call may be modified before it is refused. @default 3 */
        readonly maxModifications?: number | undefined;
        /** How often one prompt or call may be deferred before it is refused. @default 3 */
        readonly maxDeferrals?: number | undefined;
        /** How long one prompt or call may be deferred in all. @default 30000 */
        readonly maxDeferMs?: number | undefined;
      }
    | undefined;
  /** How a prompt above `maxEventTextBytes` is handled. @default "truncate" */
  readonly oversizePrompt?: "truncate" | "refuse" | undefined;
  /**
   * Who approves a tool with `needsApproval`. `harness`: the approver of escalations, when the call is about to run.
   * `sdk`: the flow of the AI SDK; if the harness then modifies the arguments, they are confirmed as with `harness`.
   * @default "harness"
   */
  readonly approvals?: "harness" | "sdk" | undefined;
  /** Depth, context and metadata of the events, or a function that returns them for each event. @default absent */
  readonly fields?: EventFields | (() => EventFields) | undefined;
  /** Receives a report that could not be sent; the work goes on. What it throws is ignored. @default no report */
  readonly onError?:
    | ((error: HarnessError, context: { readonly eventType: "post_action" | "post_response" }) => void)
    | undefined;
  /** For waits and durations. @default the real time */
  readonly clock?: Clock | undefined;
}

/** Fills in the defaults. Throws `invalid_argument` for invalid options. */
export const resolveSupervision = (options: SupervisionOptions) => {
  checkSupervisionOptions(options);
  const { fields = {}, oversizePrompt = "truncate", approvals = "harness", clock = systemClock } = options;
  return {
    ...options,
    limits: supervisionLimits.resolve(options.limits),
    escalationTimeoutMs: checkNumber("escalationTimeoutMs", options.escalationTimeoutMs ?? 600_000),
    fields: typeof fields === "function" ? fields : () => fields,
    ...{ clock, oversizePrompt, approvals },
  };
};
