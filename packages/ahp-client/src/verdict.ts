import type {
  BlockingEventType,
  ConfirmationDecision,
  DecisionFor,
  IdleDecision,
  RateLimitDecision,
} from "@harnesskit/protocol/ahp";
import type { AhpFailure, FailureCode } from "./errors.ts";

/** What the harness decided, as it came. */
export interface HarnessVerdict<D> {
  readonly origin: "harness";
  readonly decision: D;
}

/** What this client decided, because the harness did not. */
export interface ClientVerdict<D> {
  readonly origin: "client";
  /** The refusing decision of the event; with `failedOpen` the one that the caller configured. */
  readonly decision: D;
  /** Which failure it was, for programs. */
  readonly code: FailureCode;
  /** The same for people; also the `reason` of a refusing decision. */
  readonly reason: string;
  /** True when `failOpen` of this event type decided instead of refusing. */
  readonly failedOpen: boolean;
  readonly error: AhpFailure;
}

/** A decision, with who made it. `decision` is always one of the event's own, so that `verdict.decision` is enough to act on. */
export type Verdict<D> = HarnessVerdict<D> | ClientVerdict<D>;

type Refusal =
  | { readonly decision: "block"; readonly reason: string }
  | IdleDecision
  | RateLimitDecision
  | ConfirmationDecision;

const refusalOf = (eventType: BlockingEventType, reason: string): Refusal => {
  switch (eventType) {
    case "idle":
      return { decision: "defer", reason };
    case "rate_limit":
      return { decision: "skip", reason };
    case "confirmation":
      return { decision: "reject", reason };
    default:
      return { decision: "block", reason };
  }
};

/** The decision that is safe where nobody else decides: `block`, for idle `defer`, rate_limit `skip`, confirmation `reject`. */
export const refusingDecision = <T extends BlockingEventType>(eventType: T, reason: string): DecisionFor<T> =>
  refusalOf(eventType, reason) as DecisionFor<T>;
