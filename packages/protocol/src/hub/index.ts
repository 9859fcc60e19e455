export {
  AnswerRequestSchema,
  AnswerViewRequestSchema,
  hubPaths,
  type PageSession,
  PageSessionRequestSchema,
  PageSessionSchema,
  SocketTicketSchema,
} from "./access.ts";
export type { ActivityGroup, ActivityKey, RowUsage } from "./activity.ts";
export type { AgentState, HubSessionState, Protection } from "./agents.ts";
export {
  type ApprovalAnswer,
  type ApprovalOrigin,
  ApprovalOriginSchema,
  type ApprovalQuestion,
  ApprovalQuestionSchema,
  type ApprovalRecord,
  ApprovalRecordSchema,
  type ApprovalRisk,
  type ApprovalStatus,
  ApprovalStatusSchema,
  type ApprovalSubject,
  type Effect,
  EffectSchema,
  type RiskLevel,
  RiskLevelSchema,
} from "./approval.ts";
export {
  ControlAnswerSchema,
  type ControlCommand,
  type ControlOutcome,
  ControlQuerySchema,
  controlQueryType,
} from "./control.ts";
export {
  type Device,
  type DeviceRights,
  DeviceSchema,
  maxDeviceNameLength,
  PairedDeviceSchema,
  type Pairing,
  type PairingLink,
  PairRequestSchema,
  type PushSubscription,
  PushSubscriptionSchema,
} from "./devices.ts";
export { HubErrorCode } from "./error-codes.ts";
export {
  type Always,
  AlwaysSchema,
  type FieldPattern,
  type Grant,
  GrantSchema,
  type GrantTerms,
  type InputPattern,
  InputPatternSchema,
} from "./grant.ts";
export {
  HUB_API_VERSION,
  type HubMethodName,
  type HubMethodParams,
  type HubMethodResult,
  type HubNotificationName,
  type HubNotificationParams,
  hubMethods,
  hubNotifications,
} from "./methods.ts";
export type {
  BacktestChange,
  BacktestResult,
  PolicyCheck,
  PolicyProblem,
  PolicyState,
  RuleHits,
} from "./policy.ts";
export type {
  RowApproval,
  RowContent,
  RowDecision,
  RowState,
  TimelineDetail,
  TimelineFilter,
  TimelinePage,
  TimelineRow,
} from "./timeline.ts";
export { DigestSchema, DurationMsSchema, IdSchema, WordsSchema } from "./values.ts";
