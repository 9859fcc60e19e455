/**
 * How a hook can fail: it exits with 1; it exits with 2 and writes nothing; its output is not JSON; it exceeds its time;
 * its program is missing; the host does not trust it.
 */
export const hookFailures = ["crash", "silent_exit", "garbage", "timeout", "missing", "untrusted"] as const;
export type HookFailure = (typeof hookFailures)[number];

/** Whether the tool runs although the hook failed. */
export type FailureEffect = "runs" | "blocked" | "unknown";

export interface FailureFact {
  /** By the vendor's documentation, without the settings below. */
  readonly documented: FailureEffect;
  /** In a run of the real program. */
  readonly observed?: { readonly effect: FailureEffect; readonly version: string };
  /** With the switches that `planSettings` writes, where a host has one for this failure. */
  readonly withSettings?: FailureEffect;
}

export type FailureFacts = Readonly<Record<HookFailure, FailureFact>>;

/** The same fact for each failure. */
export const alike = (fact: FailureFact): FailureFacts =>
  Object.fromEntries(hookFailures.map((failure) => [failure, fact])) as FailureFacts;

/**
 * What supervision by hooks gives, for every host: each call that reaches a hook is checked and recorded. It does not
 * confine the agent: a hook that fails lets calls pass on most hosts, and an agent can do by one tool what it was refused
 * by another.
 */
export const hookProtection = "checked and recorded";
