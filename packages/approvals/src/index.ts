export {
  type Always,
  ApprovalOriginSchema,
  type ApprovalQuestion,
  type ApprovalRecord,
  ApprovalRecordSchema,
  type ApprovalRisk,
  type ApprovalSubject,
  type FieldPattern,
  type Grant,
  type InputPattern,
  type RiskLevel,
} from "@harnesskit/protocol/hub";
export type { ApprovalFilter, ApprovalStore } from "./approval-store.ts";
export type { ApprovalBacking, ApprovalTable, IdenticalKey } from "./approval-table.ts";
export { type ApprovalStoreOptions, createApprovalStore } from "./create-approval-store.ts";
export { isCommandTool } from "./describe-call.ts";
export { ApprovalError, type RefusalCode } from "./errors.ts";
export { foldEmpty } from "./fold-empty.ts";
export { grantProblem, grantTerms } from "./grant.ts";
export { type ApprovalLimits, approvalLimits } from "./limits.ts";
export { codeKind, lineTokens, type Token } from "./line-tokens.ts";
export { createMemoryApprovalStore } from "./memory-approval-store.ts";
export { type ApprovalView, type PresentOptions, presentApproval, type ViewPart } from "./present.ts";
export { presentGrant } from "./present-grant.ts";
export { handledLevel, isGrave, riskWithHidden } from "./risk.ts";
export { allowingRule, ruleOfAnswer, shortestPattern, startOfCall } from "./shortest-pattern.ts";
export { describeResult, summarizeResult } from "./summarize-result.ts";
export { type ApprovalEvent, dueAtMs } from "./transition.ts";
export { toViewLines, type ViewLine } from "./view-lines.ts";
