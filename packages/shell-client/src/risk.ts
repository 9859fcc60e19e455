import type { ActionDirective, ActionRegistry, RiskTier } from "@harnesskit/protocol/openharness";
import { checkApprovalPolicy } from "./option-names.ts";
import type { ApprovalPolicy, TierRule } from "./shell-client-options.ts";

const levels: Readonly<Record<RiskTier, number>> = { safe: 0, caution: 1, dangerous: 2 };

export type TierRules = Readonly<Record<RiskTier, TierRule>>;

/** The rule of each tier. Throws `invalid_argument` for an unknown tier and an invalid rule. */
export const resolveRules = (given: ApprovalPolicy = {}): TierRules => {
  const { safe = "run", caution = "ask", dangerous = "ask" } = checkApprovalPolicy(given);
  return { safe, caution, dangerous };
};

/** The higher of the tier that a directive states and that of its type: an engine may call something more dangerous than it is, and not less. */
export const riskOf = (directive: ActionDirective, registry: ActionRegistry): RiskTier => {
  const ofType = registry.get(directive.action_type)?.defaultRisk ?? "caution";
  const stated = directive.risk_tier ?? ofType;
  return levels[stated] > levels[ofType] ? stated : ofType;
};
