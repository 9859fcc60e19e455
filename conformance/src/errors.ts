import { HarnessError } from "@harnesskit/wire";

/**
 * Why a run cannot be made: `usage` (the command line or an option), `invalid_scenario` (a scenario, requirement or
 * expected-failures file), `unavailable` (the target cannot be started or reached), `incomplete` (a scenario took too long or waited too often in
 * vain), `interrupted`.
 */
export type ConformanceErrorCode =
  | "usage"
  | "invalid_scenario"
  | "unavailable"
  | "incomplete"
  | "interrupted";

/** A run that cannot be made. What a target does wrong is a failed check and never this. */
export class ConformanceError extends HarnessError<ConformanceErrorCode> {
  static override readonly brand = "ConformanceError";

  constructor(code: ConformanceErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(code, message, options);
  }
}

/** The message of anything thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** What a step waited for and did not get: its checks do not hold. */
export class Unmet extends HarnessError<"unmet"> {
  static override readonly brand = "Unmet";
  /** The connection had ended. */
  readonly isEnd: boolean;

  constructor(reason: string, isEnd = false) {
    super("unmet", reason);
    this.isEnd = isEnd;
  }
}

/** A step that cannot be done with this kind of target, such as one that the suite did not start: its checks are not judged. */
export class Unseen extends HarnessError<"unseen"> {
  static override readonly brand = "Unseen";

  constructor(reason: string) {
    super("unseen", reason);
  }
}

/** A step that needs what an earlier one did not get: its checks are not judged. */
export class Unreached extends HarnessError<"unreached"> {
  static override readonly brand = "Unreached";
  /** The name of the value that is missing. */
  readonly missing: string;

  constructor(missing: string, path: string = missing) {
    super("unreached", `\${${path}} is missing`);
    this.missing = missing;
  }
}
