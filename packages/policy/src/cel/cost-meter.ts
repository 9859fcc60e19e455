import { RuleError } from "../policy-error.ts";
import type { PolicyLimits } from "../policy-limits.ts";

/** Steps between two checks of the deadline. */
const stepsPerCheck = 32;

const elementCount = (value: unknown): number => {
  if (typeof value === "string" || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof Set || value instanceof Map) return value.size;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
};

/**
 * Counts what the expressions of one decision cost. The first failure stays: CEL absorbs an error inside `exists` or `||`
 * and continues, so the caller checks again at the end.
 */
export class CostMeter {
  readonly #limits: PolicyLimits;
  readonly #elapsedMs: () => number;
  #steps = 0;
  #deadlineAt: number | undefined;
  #failure: RuleError | undefined;

  /** `elapsedMs` is a monotonic time. */
  constructor(limits: PolicyLimits, elapsedMs: () => number) {
    this.#limits = limits;
    this.#elapsedMs = elapsedMs;
  }

  /** Resets the counts for a new decision. Its time runs from the first check of the deadline. */
  start(): void {
    this.#steps = 0;
    this.#failure = undefined;
    this.#deadlineAt = undefined;
  }

  /** Throws the failure of this decision, if there is one. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Throws `policy_deadline` when the time is over. */
  checkDeadline(): void {
    this.check();
    const now = this.#elapsedMs();
    this.#deadlineAt ??= now + this.#limits.maxDecisionMs;
    if (now < this.#deadlineAt) return;
    this.#fail("policy_deadline", `the decision took longer than ${this.#limits.maxDecisionMs} ms`);
  }

  /** Runs what is not part of the decision: its time does not count. */
  without<T>(act: () => T): T {
    const beganAt = this.#elapsedMs();
    try {
      return act();
    } finally {
      if (this.#deadlineAt !== undefined) this.#deadlineAt += this.#elapsedMs() - beganAt;
    }
  }

  /** Counts one step of a loop. */
  step(): true {
    this.check();
    this.#count(1);
    if (this.#steps % stepsPerCheck === 0) this.checkDeadline();
    return true;
  }

  /** Checks the size of a value that is looped over or bound to a name. */
  value<T>(value: T): T {
    this.check();
    const { maxValueLength } = this.#limits;
    if (elementCount(value) > maxValueLength)
      this.#fail("policy_cost", `a value is longer than ${maxValueLength}`);
    return value;
  }

  /** Checks the range of a loop: it is refused before its first step if too few steps are left. */
  range<T>(value: T): T {
    this.value(value);
    if (this.#steps + elementCount(value) > this.#limits.maxSteps) this.#tooManySteps();
    return value;
  }

  /** Counts a string that a pattern is matched against. */
  match(text: string): void {
    const { maxMatchLength } = this.#limits;
    if (text.length > maxMatchLength)
      this.#fail("policy_cost", `matches accepts at most ${maxMatchLength} characters`);
    this.checkDeadline();
    // A step takes about as long as matching a thousand characters.
    this.#count(1 + (text.length >> 10));
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#limits.maxSteps) this.#tooManySteps();
  }

  #tooManySteps(): never {
    return this.#fail("policy_cost", `the decision took more than ${this.#limits.maxSteps} steps`);
  }

  #fail(code: "policy_cost" | "policy_deadline", message: string): never {
    this.#failure = new RuleError(code, message);
    throw this.#failure;
  }
}
