import { defineLimits, type LimitsOf } from "@harnesskit/wire";

/** What a policy may be and what a decision may cost. */
export const policyLimits = defineLimits({
  /** Characters of a policy file. */
  maxFileLength: 1_048_576,
  /** Nodes of a policy file, aliases followed. */
  maxFileNodes: 50_000,
  /** Levels of a policy file. */
  maxFileDepth: 64,
  /** Rules and limits, each. */
  maxRules: 2000,
  /** Characters of one expression. */
  maxExpressionLength: 4096,
  /** Nodes of one expression. */
  maxExpressionNodes: 512,
  /** Levels of one expression. */
  maxExpressionDepth: 32,
  /** `all`, `exists`, `map`, `filter` and `cel.bind` inside one another. */
  maxNesting: 3,
  /** Characters of an event, about as JSON, that an expression accepts. */
  maxEventLength: 8_388_608,
  /** Steps of all loops of one decision. */
  maxSteps: 100_000,
  /** Characters or elements of a value that is bound or looped over. */
  maxValueLength: 1_048_576,
  /** Characters that one `matches` accepts. */
  maxMatchLength: 262_144,
  /** Time of one decision. */
  maxDecisionMs: 1000,
  /** Characters of a reason. */
  maxReasonLength: 500,
  /** Sessions, agents or tools that one limit counts; when there are more, new ones are deferred. */
  maxLimitKeys: 10_000,
});

export type PolicyLimits = LimitsOf<typeof policyLimits>;
