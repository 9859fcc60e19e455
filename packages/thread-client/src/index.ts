export type {
  ApprovalDecision,
  Event,
  EventBody,
  GrantScope,
  InputPart,
  Item,
  Thread,
  Turn,
} from "@harnesskit/protocol/threads";
export type { SessionState } from "@harnesskit/wire/rpc";
export type { ApprovalHandler, ApprovalRequest, ThreadApprovalAnswer } from "./approval-calls.ts";
export type { ThreadClient, ThreadClientOptions } from "./client-options.ts";
export {
  LogWentBackError,
  MalformedMessageError,
  ThreadApprovalError,
  type ThreadApprovalErrorCode,
  ThreadError,
  type ThreadErrorName,
  UnsupportedError,
  VersionMismatchError,
} from "./errors.ts";
export type { ClientLimits } from "./limits.ts";
export { createThreadClient } from "./thread-client.ts";
export type { SearchPage } from "./thread-options.ts";
export type { ThreadEvent, ThreadSubscription } from "./thread-subscription.ts";
export type { TurnHandle, TurnResult } from "./turn-handle.ts";
