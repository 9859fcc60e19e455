import type { ApprovalRisk, ApprovalSubject, RiskLevel } from "@harnesskit/protocol/hub";
import { riskWithHidden } from "./hidden-risk.ts";

/** The level at which a risk is handled: what is not known is as high. */
export const handledLevel = (level: RiskLevel): Exclude<RiskLevel, "unknown"> =>
  level === "unknown" ? "high" : level;

/** Whether a risk needs two steps to approve. */
export const isGrave = (level: RiskLevel): boolean => ["high", "critical"].includes(handledLevel(level));

/** As many as a record may have. */
const maxReasons = 20;

/** The risk of an action, at least high where its words hide something; as it is where its asker has said so. */
export const riskOfSubject = (subject: ApprovalSubject, risk: ApprovalRisk): ApprovalRisk => {
  if (risk.reasons.some((reason) => reason.startsWith("it contains hidden characters"))) return risk;
  const { level, reasons } = riskWithHidden(risk, subject);
  return { level, reasons: reasons.slice(0, maxReasons) };
};
