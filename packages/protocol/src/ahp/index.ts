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
  VerificationSchema,
  type VerificationStatus,
} from "./contracts.ts";
export {
  type Decision,
  DecisionSchema,
} from "./decisions.ts";
export {
  type AhpEvent,
  AhpEventSchema,
  type EventContext,
  EventContextSchema,
  isUsualEvent,
} from "./event.ts";
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
export { conventionalPayloads } from "./payloads.ts";
export { AHP_VERSION, AhpErrorCode, defaultAhpLimits, defaultHarnessCapabilities } from "./version.ts";
