import type { AhpEvent } from "@harnesskit/protocol/ahp";

/** What a function gets beside its arguments. */
export interface PolicyFunctionCall {
  /** The event that is decided. */
  readonly event: AhpEvent;
  /** The event's workspace, else the policy's, else the harness's; empty where none is known. */
  readonly workspace: string;
  /** The policy's named lists; the same object for all calls. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/**
 * A function that expressions can call, beside CEL's own. It answers at once: a promise is a failure. What it throws
 * makes the rule a refusal. Its last answer is used again for the same arguments of the same event.
 */
export interface PolicyFunction {
  /**
   * Its name and types as CEL has them: `command(map): map`, `redact(string): string`. Types are bool, int (a bigint),
   * double (a number), string, list, map, dyn; a method is `string.shout(): string`.
   */
  readonly signature: string;
  /** Returns JSON. */
  readonly call: (args: readonly unknown[], call: PolicyFunctionCall) => unknown;
}
