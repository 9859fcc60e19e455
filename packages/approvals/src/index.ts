export {
  type Always,
  AlwaysSchema,
  type ApprovalAnswer,
  ApprovalAnswerSchema,
  type ApprovalOrigin,
  ApprovalOriginSchema,
  type ApprovalQuestion,
  ApprovalQuestionSchema,
  type ApprovalRecord,
  ApprovalRecordSchema,
  type ApprovalRisk,
  ApprovalRiskSchema,
  type ApprovalRule,
  ApprovalRuleSchema,
  type ApprovalStatus,
  ApprovalStatusSchema,
  type ApprovalSubject,
  ApprovalSubjectSchema,
  type Effect,
  EffectSchema,
  type FieldPattern,
  FieldPatternSchema,
  type Grant,
  GrantSchema,
  type GrantTerms,
  GrantTermsSchema,
  type InputPattern,
  InputPatternSchema,
  type RiskLevel,
  RiskLevelSchema,
} from "@harnesskit/protocol/hub";
export { allowingRule } from "./allowing-rule.ts";
export type {
  ApprovalFilter,
  ApprovalPage,
  ApprovalStore,
  ApprovalWatchOptions,
  AskOptions,
  AskResult,
  PageOptions,
} from "./approval-store.ts";
export type { ApprovalBacking, ApprovalTable, IdenticalKey } from "./approval-table.ts";
export { codeKind } from "./code-kind.ts";
export { type ApprovalStoreOptions, createApprovalStore } from "./create-approval-store.ts";
export { isCommandTool } from "./describe-call.ts";
export { ApprovalError, type ApprovalErrorCode, type RefusalCode } from "./errors.ts";
export { foldEmpty } from "./fold-empty.ts";
export { type Asked, findGrant, grantCovers, grantProblem, grantTerms } from "./grant.ts";
export { riskWithHidden } from "./hidden-risk.ts";
export { type ApprovalLimits, approvalLimits } from "./limits.ts";
export { lineTokens, type Token } from "./line-tokens.ts";
export { createMemoryApprovalStore } from "./memory-approval-store.ts";
export {
  type ApprovalView,
  type Presented,
  type PresentOptions,
  presentApproval,
  type ViewPart,
} from "./present.ts";
export { presentGrant } from "./present-grant.ts";
export { findRepeat } from "./repeat.ts";
export { handledLevel, isGrave } from "./risk.ts";
export type { MaybePromise } from "./steps.ts";
export { type CallResult, describeResult, summarizeResult } from "./summarize-result.ts";
export {
  type ApprovalEvent,
  ApprovalEventSchema,
  dueAtMs,
  lapse,
  type Transition,
  type TransitionTimes,
  transition,
} from "./transition.ts";
export { type LineKind, type LineOptions, toViewLines, type ViewLine } from "./view-lines.ts";
