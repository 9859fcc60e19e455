import { InvalidArgumentError } from "@harnesskit/wire";

/** What a policy may be and what a decision may cost. */
export interface PolicyLimits {
  /** Characters of a policy file. @default 1048576 */
  readonly maxFileLength?: number;
  /** Nodes of a policy file, aliases followed. @default 50000 */
  readonly maxFileNodes?: number;
  /** Levels of a policy file. @default 64 */
  readonly maxFileDepth?: number;
  /** Rules and limits, each. @default 2000 */
  readonly maxRules?: number;
  /** Characters of one expression. @default 4096 */
  readonly maxExpressionLength?: number;
  /** Nodes of one expression. @default 512 */
  readonly maxExpressionNodes?: number;
  /** Levels of one expression. @default 32 */
  readonly maxExpressionDepth?: number;
  /** `all`, `exists`, `map`, `filter` and `cel.bind` inside one another. @default 3 */
  readonly maxNesting?: number;
  /** Characters of an event, about as JSON, that an expression looks at. @default 8388608 */
  readonly maxEventLength?: number;
  /** Steps of all loops of one decision. @default 100000 */
  readonly maxSteps?: number;
  /** Characters or elements of a value that is bound or looped over. @default 1048576 */
  readonly maxValueLength?: number;
  /** Characters that one `matches` looks through. @default 262144 */
  readonly maxMatchLength?: number;
  /** Time of one decision, in milliseconds. @default 1000 */
  readonly maxDecisionMs?: number;
  /** Characters of a reason. @default 500 */
  readonly maxReasonLength?: number;
  /** Sessions, agents or tools that one limit counts; with more, who is new is held back. @default 10000 */
  readonly maxLimitKeys?: number;
}

export type ResolvedPolicyLimits = Required<PolicyLimits>;

const defaultPolicyLimits: ResolvedPolicyLimits = {
  maxFileLength: 1_048_576,
  maxFileNodes: 50_000,
  maxFileDepth: 64,
  maxRules: 2000,
  maxExpressionLength: 4096,
  maxExpressionNodes: 512,
  maxExpressionDepth: 32,
  maxNesting: 3,
  maxEventLength: 8_388_608,
  maxSteps: 100_000,
  maxValueLength: 1_048_576,
  maxMatchLength: 262_144,
  maxDecisionMs: 1000,
  maxReasonLength: 500,
  maxLimitKeys: 10_000,
};

/** The limits with their defaults. Throws `invalid_argument`. */
export const resolvePolicyLimits = (limits: PolicyLimits = {}): ResolvedPolicyLimits => {
  const resolved: Record<string, number> = { ...defaultPolicyLimits };
  for (const name of Object.keys(defaultPolicyLimits) as (keyof PolicyLimits)[]) {
    const value = limits[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new InvalidArgumentError(`${name} is a whole number from 1, not ${value}`);
    }
    resolved[name] = value;
  }
  return resolved as unknown as ResolvedPolicyLimits;
};
