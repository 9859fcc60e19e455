export type {
  ApprovalDecision,
  ApprovalMetadata,
  Event,
  EventBody,
  Grant,
  GrantScope,
  InputPart,
  Item,
  ModelRef,
  Thread,
  ThreadCapabilities,
  Turn,
} from "@harnesskit/protocol/threads";
export type { ApprovalAnswer, ApprovalHandler, ApprovalRequest } from "./approval-desk.ts";
export type {
  CreateThreadParams,
  EventStream,
  GetThreadOptions,
  ListGrantsOptions,
  ListThreadsOptions,
  RespondApprovalOptions,
  StartTurnOptions,
  SubscribeOptions,
  ThreadClient,
  ThreadClientOptions,
  ThreadClientStats,
  ThreadPage,
} from "./client-options.ts";
export {
  ApprovalError,
  type ApprovalErrorCode,
  LogWentBackError,
  MalformedMessageError,
  ThreadError,
  type ThreadErrorName,
  UnsupportedError,
  VersionMismatchError,
} from "./errors.ts";
export type { ThreadExtension } from "./extensions.ts";
export { type BufferLimits, type ClientLimits, defaultClientLimits } from "./limits.ts";
export type { ConnectionState } from "./link.ts";
export type { ReconnectOptions } from "./reconnect.ts";
export { createThreadClient } from "./thread-client.ts";
export type { ItemState, ThreadState } from "./thread-state.ts";
export type { ThreadEvent, ThreadSubscription } from "./thread-subscription.ts";
export { createThreadView, reduceThread, type ThreadView, type ThreadViewOptions } from "./thread-view.ts";
export type { TurnHandle, TurnResult } from "./turn-handle.ts";
export type { ThreadHistory } from "./validation.ts";
