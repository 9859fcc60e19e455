import { HarnessError } from "@harnesskit/wire";

/** A place in a file, from 1. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

/** A problem at one place of a policy file. */
export interface PolicyProblem extends SourcePlace {
  readonly message: string;
  /** The place in the document, such as `rules.3.when.cel`; empty for the whole. */
  readonly path: string;
}

/**
 * - `policy_unreadable`: the file cannot be read;
 * - `policy_too_large`: more characters, nodes or levels than the limits allow;
 * - `policy_syntax`: not YAML;
 * - `policy_invalid`: YAML that is not a policy;
 * - `policy_expression`: an expression or a template that is not valid CEL, has the wrong type or may cost too much;
 * - `policy_changed`: the file has another text than the one that was to be replaced.
 */
export type PolicyErrorCode =
  | "policy_unreadable"
  | "policy_too_large"
  | "policy_syntax"
  | "policy_invalid"
  | "policy_expression"
  | "policy_changed";

const maxProblems = 50;

/** A policy file that is refused, with the place of each problem. The message is `FILE:LINE:COLUMN: problem`. */
export class PolicyError extends HarnessError<PolicyErrorCode> {
  static override readonly brand = "PolicyError";
  readonly file: string;
  /** In the order of the file; at least one and at most 50. */
  readonly problems: readonly PolicyProblem[];

  constructor(
    code: PolicyErrorCode,
    file: string,
    problems: readonly PolicyProblem[],
    options?: { readonly cause?: unknown },
  ) {
    const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
    const [first = { message: "not a policy", line: 1, column: 1 }] = sorted;
    const more = sorted.length > 1 ? ` (and ${sorted.length - 1} more)` : "";
    super(code, `${file}:${first.line}:${first.column}: ${first.message}${more}`, options);
    this.file = file;
    this.problems = sorted.slice(0, maxProblems);
  }
}

/**
 * Why a rule could not be decided:
 * - `policy_expression_failed`: CEL has no value for it, for example for a field that is missing;
 * - `policy_cost`: more steps, longer values or a larger event than the limits allow;
 * - `policy_deadline`: `maxDecisionMs` is over;
 * - `policy_function`: a function of the application threw an error;
 * - `policy_decision`: the rule's result is not a decision of the event's type.
 */
export type RuleErrorCode =
  | "policy_expression_failed"
  | "policy_cost"
  | "policy_deadline"
  | "policy_function"
  | "policy_decision";

/** A rule that could not be decided. It becomes a refusal that names the rule, and is never thrown to a caller. */
export class RuleError extends HarnessError<RuleErrorCode> {
  static override readonly brand = "RuleError";
}
