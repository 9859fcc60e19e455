import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type * as z from "zod";
import { AhpFailure, type FailureCode, firstIssue } from "./errors.ts";

/** What this client decided, because the harness did not. */
export interface ClientVerdict<D> {
  readonly origin: "client";
  /** The refusing decision of the event. */
  readonly decision: D;
  /** Which failure it was, for programs. */
  readonly code: FailureCode;
  /** The same for people; also the `reason` of the decision. */
  readonly reason: string;
  readonly error: AhpFailure;
}

/** A decision, with who made it. `decision` is always one of the event's own, so that `verdict.decision` is enough to act on. */
export type Verdict<D> = { readonly origin: "harness"; readonly decision: D } | ClientVerdict<D>;

/** The decisions that are not `block`. */
const refusals: { readonly [T in AhpEventType]?: string } = {
  idle: "defer",
  rate_limit: "skip",
  confirmation: "reject",
};

/**
 * What became of an event: what the harness decided, else the refusing decision (`block`; for idle `defer`, rate_limit `skip`, confirmation
 * `reject`). `outcome` is the result as it came, or the failure. An event of a batch has a generic decision, whatever its type.
 */
export const toVerdict = <D>(eventType: AhpEventType, outcome: unknown): Verdict<D> => {
  if (AhpFailure.isInstance(outcome)) return refusing(eventType, outcome);
  const parsed = (ahpEvents[eventType].decision as z.ZodType).safeParse(outcome);
  if (parsed.success) return { origin: "harness", decision: parsed.data as D };
  const text = `the answer is not a valid decision of ${eventType}: ${firstIssue(parsed.error)}`;
  return refusing(eventType, new AhpFailure("invalid_decision", text, { cause: parsed.error }));
};

const refusing = <D>(eventType: AhpEventType, error: AhpFailure): ClientVerdict<D> => {
  const reason = `The harness gave no decision (${error.code}): ${error.message}`;
  const decision = { decision: refusals[eventType] ?? "block", reason } as D;
  return { origin: "client", decision, code: error.code, reason, error };
};
