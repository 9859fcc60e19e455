import { RuleError } from "../policy-error.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";

/** Steps between two looks at the clock. */
const stepsPerLook = 32;

const sizeOf = (value: unknown): number => {
  if (typeof value === "string" || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof Set || value instanceof Map) return value.size;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
};

/**
 * What expressions of one decision have cost. Once it is too much, it stays too much: CEL takes an error inside `exists`
 * or `||` for no answer and goes on, so whoever evaluates asks at the end.
 */
export class CostMeter {
  readonly #limits: ResolvedPolicyLimits;
  readonly #elapsedMs: () => number;
  #steps = 0;
  #expressions = 0;
  #deadlineAt: number | undefined;
  #failure: RuleError | undefined;

  /** `elapsedMs` is a monotonic time. */
  constructor(limits: ResolvedPolicyLimits, elapsedMs: () => number) {
    this.#limits = limits;
    this.#elapsedMs = elapsedMs;
  }

  /** A new decision begins. Its time runs from the first look: most decisions are over before one. */
  start(): void {
    this.#steps = 0;
    this.#failure = undefined;
    this.#deadlineAt = undefined;
  }

  /** An expression without loops begins. */
  expression(): void {
    if (++this.#expressions % stepsPerLook === 0) this.look();
  }

  /** Throws what was too much, if anything was. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Throws `policy_deadline` if the time is over. */
  look(): void {
    if (this.#failure) throw this.#failure;
    const now = this.#elapsedMs();
    this.#deadlineAt ??= now + this.#limits.maxDecisionMs;
    if (now < this.#deadlineAt) return;
    this.#fail("policy_deadline", `the decision took longer than ${this.#limits.maxDecisionMs} ms`);
  }

  /** One step of a loop. */
  step(): true {
    if (this.#failure) throw this.#failure;
    this.#count(1);
    if (this.#steps % stepsPerLook === 0) this.look();
    return true;
  }

  /** A value that is looped over or bound to a name. */
  value<T>(value: T): T {
    if (this.#failure) throw this.#failure;
    const size = sizeOf(value);
    const { maxValueLength } = this.#limits;
    if (size > maxValueLength) this.#fail("policy_cost", `a value is longer than ${maxValueLength}`);
    return value;
  }

  /** A range of a loop, which is refused before its first step if the steps left do not suffice. */
  range<T>(value: T): T {
    this.value(value);
    const { maxSteps } = this.#limits;
    if (this.#steps + sizeOf(value) > maxSteps) this.#tooManySteps();
    return value;
  }

  /** A text that a pattern looks through. */
  match(text: string): void {
    const { maxMatchLength } = this.#limits;
    if (text.length > maxMatchLength) {
      this.#fail("policy_cost", `matches looks through at most ${maxMatchLength} characters`);
    }
    this.look();
    // A step is about what a thousand characters take.
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
