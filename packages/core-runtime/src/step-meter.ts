import { HarnessError } from "@harnesskit/wire";

/** A validation took more steps than it may. */
class ValidationTooCostlyError extends HarnessError {
  static override readonly brand = "ValidationTooCostlyError";
  constructor() {
    super("validation_too_costly", "the value is too large or too intricate for its schema");
  }
}

/** Counts down while a schema of unknown origin is evaluated, so that no schema and no value can take long. */
export class StepMeter {
  /** Steps that are left. Compiled schemas count it down themselves. */
  left = 0;
  /** Thrown when none is left; made once, because it is thrown where a stack says nothing. */
  readonly exhausted = new ValidationTooCostlyError();

  take(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw this.exhausted;
  }

  /** For a keyword that looks at each entry or character of the value. */
  takeFor(value: unknown, weight: number): void {
    this.take(weight * stepsOf(value));
  }
}

const stepsOf = (value: unknown): number => {
  if (typeof value === "string") return 1 + (value.length >> 4);
  if (typeof value !== "object" || value === null) return 1;
  return 1 + (Array.isArray(value) ? value.length : Object.keys(value).length);
};
