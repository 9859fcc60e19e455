import { type ActionDirective, approvalSubject } from "@harnesskit/protocol/openharness";
import { digest, isObject } from "@harnesskit/wire/json";
import type { ApprovalDecision } from "./shell-client-options.ts";
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

export const undecided = (code: DirectiveErrorCode, message: string, cause?: unknown): Asked => ({
  decision: undefined,
  error: { code, message, cause },
});

/** The digest that answers are bound to. Rejects with `invalid_argument` for what has no canonical JSON. */
export const directiveDigest = (directive: ActionDirective): Promise<string> =>
  digest(approvalSubject(directive));

const isDecision = (value: unknown): value is ApprovalDecision => value === "approved" || value === "refused";

/** Reads a reply, each field once. Only what says `approved` is a yes. */
export const readUserReply = (reply: unknown, digestAsked: string): Asked => {
  if (reply === undefined || reply === null) return undecided("not_answered", "there was no answer");
  const { decision, reason, digest: answered = digestAsked } = isObject(reply) ? reply : { decision: reply };
  if (answered !== digestAsked) {
    return undecided("approval_mismatch", "the answer is about another directive");
  }
  if (isDecision(decision)) return { decision, reason: typeof reason === "string" ? reason : undefined };
  const message = `the reply is a value of type ${typeof reply} without a decision: "approved" and "refused" are answers`;
  return undecided("approval_failed", message);
};

/** An answer in words, for an engine that has not said how it takes answers. */
export const intentOf = ({ decision, reason }: Answer): string =>
  reason === undefined ? decision : `${decision}: ${reason}`;
