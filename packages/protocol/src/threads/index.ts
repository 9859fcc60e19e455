export { ThreadErrorCode } from "./error-codes.ts";
export {
  type ApprovalDecision,
  ApprovalDecisionSchema,
  type ApprovalMetadata,
  ApprovalMetadataSchema,
  type GrantScope,
  GrantScopeSchema,
  type Item,
  type ItemData,
  type ItemOf,
  ItemSchema,
  type ItemType,
  ItemTypeSchema,
  type Summary,
  ToolStatusSchema,
} from "./item.ts";
export { PromptJudgementSchema, ToolJudgementSchema } from "./judgement.ts";
export {
  type Grant,
  GrantSchema,
  THREAD_PROTOCOL_VERSION,
  type ThreadCapabilities,
  ThreadCapabilitiesSchema,
  type ThreadMethodName,
  type ThreadMethodParams,
  type ThreadMethodResult,
  threadMethods,
} from "./methods.ts";
export {
  type Event,
  type EventBody,
  type EventName,
  type EventOf,
  EventSchema,
  type ThreadNotificationName,
  type ThreadNotificationParams,
  threadNotifications,
} from "./notifications.ts";
export { isPreviewCut } from "./preview-cut.ts";
export { type SearchHit, SearchHitSchema } from "./search.ts";
export {
  type FileInput,
  FileInputSchema,
  type InputPart,
  InputPartSchema,
  type ModelRef,
  ModelRefSchema,
  type QueuedTurn,
  QueuedTurnSchema,
  TextInputSchema,
  type Thread,
  ThreadSchema,
  type Turn,
  TurnSchema,
  type TurnStatus,
  TurnStatusSchema,
  type Usage,
  UsageSchema,
  type WhenBusy,
  WhenBusySchema,
} from "./thread.ts";
