import type { Decision } from "@harnesskit/protocol/ahp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { Judgement } from "@harnesskit/thread-server";
import { oneLine } from "../terminal/one-line.ts";

/** The value of a field of an object's own; undefined for anything else. */
export const fieldOf = (value: unknown, name: string): JsonValue | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as Record<string, JsonValue>)[name]
    : undefined;

const textOf = (value: unknown, maxLength: number): string | undefined =>
  typeof value === "string" && value !== "" ? oneLine(value, maxLength) : undefined;

/** How a reason names its rule where the decision has no other place for it. */
const namedRule = /\((?:rule|limit) ([^()]{1,100})\)$/;

/** Says by which policy and rule a decision was made, as far as the harness tells. */
export class Explainer {
  readonly #given: () => string;
  #told: string | undefined;

  /** @param name what the policy is called until a decision says it */
  constructor(name: () => string) {
    this.#given = name;
  }

  get by(): string {
    return `policy ${this.#told ?? oneLine(this.#given(), 100)}`;
  }

  explain(decision: Decision): Judgement {
    const told = "metadata" in decision ? fieldOf(decision.metadata, "policy") : undefined;
    this.#told = textOf(fieldOf(told, "name"), 100) ?? this.#told;
    const reason = "reason" in decision ? textOf(decision.reason, 500) : textOf(fieldOf(told, "why"), 500);
    const rule = textOf(fieldOf(told, "rule"), 100) ?? (reason && namedRule.exec(reason)?.[1]);
    return { by: this.by, ...(rule !== undefined && { rule }), ...(reason !== undefined && { reason }) };
  }
}
