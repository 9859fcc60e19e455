import type { ApprovalRisk, ApprovalSubject, RiskLevel } from "@harnesskit/protocol/hub";
import { hidesText } from "@harnesskit/wire";

/** The level at which a risk is handled: what is not known is as high. */
export const handledLevel = (level: RiskLevel): Exclude<RiskLevel, "unknown"> =>
  level === "unknown" ? "high" : level;

/** Whether a risk needs two steps to approve, and the attention of a human at once. */
export const isGrave = (level: RiskLevel): boolean => ["high", "critical"].includes(handledLevel(level));

const hiddenReason = "it has hidden characters, which are written out as ⟨U+…⟩";

const hidesIn = (value: unknown): boolean => {
  let isFound = false;
  JSON.stringify(value, (key, each: unknown) => {
    isFound ||= hidesText(key) || (typeof each === "string" && hidesText(each));
    return isFound ? undefined : each;
  });
  return isFound;
};

/** The risk of an action as it is: at least high where its words hide something. */
export const riskOfSubject = (subject: ApprovalSubject, risk: ApprovalRisk): ApprovalRisk => {
  if (risk.reasons.includes(hiddenReason) || !hidesIn(subject)) return risk;
  return {
    level: risk.level === "critical" ? "critical" : "high",
    reasons: [hiddenReason, ...risk.reasons].slice(0, maxReasons),
  };
};

/** As many as a record may have. */
const maxReasons = 20;
