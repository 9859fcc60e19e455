export { withoutNulls } from "../null-as-absent.ts";
export {
  type RunLifecycle,
  RunLifecycleSchema,
  type RunStatus,
  type Task,
  type TaskList,
  TaskListSchema,
  type TaskStatus,
  type Verification,
  type VerificationCheck,
  VerificationSchema,
  type VerificationStatus,
} from "./contracts.ts";
export { conventionalPayloads } from "./conventional-payloads.ts";
export {
  type Decision,
  DecisionSchema,
  type RateLimitDecision,
} from "./decisions.ts";
export { type AhpEvent, AhpEventSchema, type EventContext, EventContextSchema } from "./event.ts";
export {
  type AhpEventType,
  AhpEventTypeSchema,
  ahpEvents,
  type BatchableEventType,
  type BlockingEventType,
  type DecisionFor,
  type EventPayload,
  type EventPayloadInput,
  methodEventTypes,
  type NotificationEventType,
} from "./event-types.ts";
export {
  ahpMethods,
  type HandshakeParams,
  type HandshakeResult,
  HandshakeResultSchema,
  type HarnessConfig,
  type QueryParams,
  QueryParamsSchema,
  type QueryResult,
  QueryResultSchema,
} from "./methods.ts";
export { HeartbeatPayloadSchema } from "./payloads.ts";
export { isUsualEvent } from "./usual-event.ts";
export { AHP_VERSION, AhpErrorCode, defaultAhpLimits, defaultHarnessCapabilities } from "./version.ts";
