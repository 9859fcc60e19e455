import { type ActionDirective, approvalSubject, type RiskTier } from "@harnesskit/protocol/openharness";
import type { Clock } from "@harnesskit/wire";
import { digest } from "@harnesskit/wire/json";
import { settleWithin } from "@harnesskit/wire/time";
import type { ClientParts } from "./client-parts.ts";
import type { ApprovalAsk, ApprovalDecision } from "./shell-client-options.ts";
import type { DirectiveError, DirectiveErrorCode } from "./shell-outcome.ts";

/** What a user said. */
export interface Answer {
  readonly decision: ApprovalDecision;
  readonly reason?: string | undefined;
}

export type Asked =
  | Answer
  /** There is no decision; and where the time of the directive is over, there will be none. */
  | { readonly decision: undefined; readonly error: DirectiveError };

/** The digest that answers are bound to. Rejects with `invalid_argument` for what has no canonical JSON. */
export const directiveDigest = (directive: ActionDirective): Promise<string> =>
  digest(approvalSubject(directive));

const isDecision = (value: unknown): value is ApprovalDecision => value === "approved" || value === "refused";

/** Reads a reply, each field once. Only what says `approved` is a yes. */
export const readUserReply = (reply: unknown, digestAsked: string): Asked => {
  if (isDecision(reply)) return { decision: reply };
  if (typeof reply === "object" && reply !== null) {
    const { decision, reason, digest: answered } = reply as Record<string, unknown>;
    if (answered !== undefined && answered !== digestAsked) {
      const message = "the answer is about another directive";
      return { decision: undefined, error: { code: "approval_mismatch", message } };
    }
    if (isDecision(decision)) return { decision, reason: typeof reason === "string" ? reason : undefined };
  }
  if (reply === undefined || reply === null) {
    return { decision: undefined, error: { code: "not_answered", message: "there was no answer" } };
  }
  const message = `the reply is ${typeof reply === "object" ? "an object without a decision" : `a ${typeof reply}`}: "approved" and "refused" are answers`;
  return { decision: undefined, error: { code: "approval_failed", message } };
};

/** An answer in words, for an engine that has not said how it takes answers. */
export const intentOf = ({ decision, reason }: Answer): string =>
  reason === undefined ? decision : `${decision}: ${reason}`;

export interface Question {
  readonly directive: ActionDirective;
  readonly riskTier: RiskTier;
  readonly why: ApprovalAsk["why"];
  /** When its deadline is over, by `elapsedMs` of the clock. */
  readonly dueMs: number | undefined;
  /** Aborts when the call is given up. */
  readonly signal: AbortSignal;
}

/** When a deadline is over, in milliseconds since the epoch. */
export const toEpochMs = (dueMs: number | undefined, clock: Clock): number | undefined =>
  dueMs === undefined ? undefined : clock.now() + dueMs - clock.elapsedMs();

/** Asks the user. Never rejects; anything but a yes or a no leaves it undecided. */
export const askUser = async (question: Question, parts: ClientParts): Promise<Asked> => {
  const { directive, riskTier, why, dueMs, signal } = question;
  const { approve, clock, limits } = parts;
  const { approvalTimeoutMs } = limits;
  const undecided = (code: DirectiveErrorCode, message: string, cause?: unknown): Asked => ({
    decision: undefined,
    error: { code, message, cause },
  });
  if (approve === undefined) return undecided("no_approver", "this shell cannot ask its user");
  const deadlineAtMs = toEpochMs(dueMs, clock);
  const leftMs = (dueMs ?? Number.POSITIVE_INFINITY) - clock.elapsedMs();
  const timeoutMs = Math.min(leftMs, approvalTimeoutMs);
  const run = async (stop: AbortSignal) => {
    const digest = await directiveDigest(directive);
    return readUserReply(
      await approve({ directive, digest, riskTier, why, signal: stop, deadlineAtMs }),
      digest,
    );
  };
  const ended = await settleWithin(run, { clock, signal, name: "the answer", timeoutMs });
  switch (ended.status) {
    case "done":
      return ended.value;
    case "cancelled":
      return undecided("cancelled", "the call was given up");
    case "timed_out":
      return approvalTimeoutMs <= leftMs
        ? undecided("not_answered", `there was no answer within ${approvalTimeoutMs} ms`)
        : undecided("deadline_exceeded", "the deadline was over before there was an answer");
    case "failed":
      return undecided("approval_failed", "the user could not be asked", ended.error);
  }
};
