import type { Decision } from "@harnesskit/protocol/ahp";
import { undecidedCodes } from "@harnesskit/thread-server";
import { type Clock, wait } from "@harnesskit/wire";
import { oneLine } from "../terminal/one-line.ts";
import type { HarnessLink, LinkEvent } from "./harness-link.ts";

/** How often one action may be put off, and for how long in all. */
const deferLimits = { maxDeferrals: 3, maxDeferMs: 60_000 } as const;

export type PolicyAnswer =
  | { readonly decision: Exclude<Decision, { decision: "defer" }> }
  /** It does not happen, for this reason. */
  | { readonly code: string; readonly reason: string };

export interface AskOptions {
  readonly link: Pick<HarnessLink, "decide">;
  readonly clock: Clock;
  /** What is asked about, as the subject of a sentence. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** Asks until the harness has decided, waiting as long as it says, within {@link deferLimits}. Never rejects. */
export const askPolicy = async (
  eventType: "pre_action" | "pre_prompt",
  event: LinkEvent,
  { link, clock, what, signal }: AskOptions,
): Promise<PolicyAnswer> => {
  let deferredMs = 0;
  for (let deferrals = 0; ; deferrals++) {
    const answer = await link.decide(eventType, event, signal);
    if ("failure" in answer) return undecided(answer.failure, answer.why, what);
    const { decision } = answer;
    if (decision.decision !== "defer") return { decision };
    const { retry_after_ms: waitMs, reason } = decision;
    deferredMs += Math.max(0, waitMs);
    if (deferrals === deferLimits.maxDeferrals || deferredMs > deferLimits.maxDeferMs) {
      const why = reason === undefined ? "" : `: ${oneLine(reason, 500)}`;
      return { code: "policy.deferred", reason: `The policy puts ${what} off for too long${why}` };
    }
    await wait(waitMs, clock, signal);
  }
};

const undecided = (
  failure: "timeout" | "unavailable" | "unsendable" | "cancelled",
  why: string,
  what: string,
): PolicyAnswer => {
  switch (failure) {
    case "timeout":
      return {
        code: undecidedCodes.timeout,
        reason: `Nobody judged ${what} in time, so it did not happen: ${why}`,
      };
    case "unsendable":
      return { code: "gate.unjudgeable", reason: `${what} cannot be judged, so it did not happen: ${why}` };
    case "cancelled":
      return { code: "tool.cancelled", reason: "It was cancelled." };
    case "unavailable":
      return {
        code: undecidedCodes.unavailable,
        reason: `Nobody can judge ${what}, so it did not happen: ${why}`,
      };
  }
};
