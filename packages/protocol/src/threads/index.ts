export { ThreadErrorCode } from "./error-codes.ts";
export {
  type ApprovalDecision,
  ApprovalDecisionSchema,
  type ApprovalMetadata,
  ApprovalMetadataSchema,
  type GrantScope,
  type Item,
  type ItemData,
  type ItemOf,
  type ItemType,
  type Summary,
} from "./item.ts";

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
export type { SearchHit } from "./search.ts";
export {
  type FileInput,
  type InputPart,
  type ModelRef,
  type QueuedTurn,
  type Thread,
  ThreadSchema,
  type Turn,
  type TurnStatus,
  type Usage,
  type WhenBusy,
} from "./thread.ts";
