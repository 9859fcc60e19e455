import { type ActionDirective, approvalSubject, type RiskTier } from "@harnesskit/protocol/openharness";
import { type Clock, digest } from "@harnesskit/wire";
import type { CallScope } from "./call-scope.ts";
import type { ApprovalAsk, ApprovalDecision, ShellClientOptions } from "./shell-client-options.ts";
import type { DirectiveError } from "./shell-outcome.ts";
import { within } from "./within.ts";

/** What a user said. */
export interface Answer {
  readonly decision: ApprovalDecision;
  readonly reason?: string;
}

export type Asked =
  | Answer
  /** There is no decision; and where the time of the directive is over, there will be none. */
  | { readonly decision: undefined; readonly error: DirectiveError };

/** The digest that answers are bound to. Rejects with `invalid_argument` for what has no canonical JSON. */
export const digestOf = (directive: ActionDirective): Promise<string> => digest(approvalSubject(directive));

const isDecision = (value: unknown): value is ApprovalDecision => value === "approved" || value === "refused";

/** Reads a reply of anybody's, each field once. Only what says `approved` is a yes. */
export const readReply = (reply: unknown, digestAsked: string): Asked => {
  if (isDecision(reply)) return { decision: reply };
  if (typeof reply === "object" && reply !== null) {
    const { decision, reason, digest: answered } = reply as Record<string, unknown>;
    if (answered !== undefined && answered !== digestAsked) {
      const message = "the answer is about another directive";
      return { decision: undefined, error: { code: "approval_mismatch", message } };
    }
    if (isDecision(decision)) return { decision, ...(typeof reason === "string" && { reason }) };
  }
  return { decision: undefined, error: { code: "not_answered", message: "nobody answered" } };
};

export interface Question {
  readonly directive: ActionDirective;
  readonly riskTier: RiskTier;
  readonly why: ApprovalAsk["why"];
  readonly deadlineAtMs: number | undefined;
  readonly scope: CallScope;
}

export interface AskerOptions {
  readonly approve: ShellClientOptions["approve"];
  readonly approvalTimeoutMs: number;
  readonly clock: Clock;
}

/** Asks the user. Never rejects; whatever is no yes and no is no decision. */
export class Asker {
  readonly #options: AskerOptions;

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  get canAsk(): boolean {
    return this.#options.approve !== undefined;
  }

  ask(question: Question): Promise<Asked> {
    return this.#ask(question);
  }

  async #ask({ directive, riskTier, why, deadlineAtMs, scope }: Question): Promise<Asked> {
    const { approve, approvalTimeoutMs, clock } = this.#options;
    const none = (error: DirectiveError): Asked => ({ decision: undefined, error });
    if (approve === undefined)
      return none({ code: "no_approver", message: "this shell cannot ask its user" });
    const timeoutAtMs = clock.now() + approvalTimeoutMs;
    const dueAtMs = Math.min(timeoutAtMs, deadlineAtMs ?? Number.POSITIVE_INFINITY);
    let digestAsked = "";
    const run = async (stop: AbortSignal) => {
      digestAsked = await digestOf(directive);
      return approve({ directive, digest: digestAsked, riskTier, why, signal: stop, deadlineAtMs });
    };
    const ended = await within(run, { clock, dueAtMs, scope });
    switch (ended.how) {
      case "aborted":
        return none({ code: "cancelled", message: "the call was given up" });
      case "due":
        return dueAtMs === timeoutAtMs
          ? none({ code: "not_answered", message: `nobody answered within ${approvalTimeoutMs} ms` })
          : none({ code: "deadline_exceeded", message: "the deadline was over before there was an answer" });
      case "threw":
        return none({ code: "approval_failed", message: "nobody could be asked", cause: ended.cause });
    }
    try {
      return readReply(ended.value, digestAsked);
    } catch (cause) {
      return none({ code: "approval_failed", message: "the answer cannot be read", cause });
    }
  }
}
