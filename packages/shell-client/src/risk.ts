import type { ActionDirective, ActionRegistry, RiskTier } from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { TierRule } from "./shell-client-options.ts";

const levels: Readonly<Record<RiskTier, number>> = { safe: 0, caution: 1, dangerous: 2 };
const tiers = Object.keys(levels) as RiskTier[];

export type TierRules = Readonly<Record<RiskTier, TierRule>>;

const defaultRules: TierRules = { safe: "run", caution: "ask", dangerous: "ask" };

/** The rule of each tier. Throws `invalid_argument` for an invalid rule. */
export const resolveRules = (given: Readonly<Partial<Record<RiskTier, TierRule>>> = {}): TierRules => {
  const rules = { ...defaultRules };
  for (const tier of tiers) {
    const rule: unknown = given[tier] ?? defaultRules[tier];
    if (rule !== "run" && rule !== "ask" && rule !== "refuse") {
      throw new InvalidArgumentError(`approvalPolicy.${tier} is "run", "ask" or "refuse"`);
    }
    rules[tier] = rule;
  }
  return rules;
};

/** The higher of the tier that a directive states and that of its type: an engine may call something more dangerous than it is, and not less. */
export const riskOf = (directive: ActionDirective, registry: ActionRegistry): RiskTier => {
  const ofType = registry.get(directive.action_type)?.defaultRisk ?? "caution";
  const stated = directive.risk_tier ?? ofType;
  return levels[stated] > levels[ofType] ? stated : ofType;
};
