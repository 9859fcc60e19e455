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
  QueuedTurn,
  SearchHit,
  Thread,
  ThreadCapabilities,
  Turn,
  WhenBusy,
} from "@harnesskit/protocol/threads";
export type { ConnectOptions, ReconnectOptions, SessionState } from "@harnesskit/wire/rpc";
export type { ApprovalHandler, ApprovalRequest, ThreadApprovalAnswer } from "./approval-calls.ts";
export type { Initialized } from "./call-thread-server.ts";
export type {
  CancelTurnOptions,
  CompactThreadOptions,
  EventStream,
  ListGrantsOptions,
  RespondApprovalOptions,
  StartTurnOptions,
  SubmitTurnOptions,
  SubscribeOptions,
  ThreadClient,
  ThreadClientOptions,
  ThreadClientStats,
} from "./client-options.ts";
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
export type { ThreadExtension } from "./extensions.ts";
export { type BufferLimits, type ClientLimits, clientLimits } from "./limits.ts";
export { createThreadClient } from "./thread-client.ts";
export type {
  CreateThreadParams,
  ForkThreadOptions,
  GetThreadOptions,
  ListThreadsOptions,
  SearchPage,
  SearchThreadsOptions,
  ThreadPage,
} from "./thread-options.ts";
export type { ThreadEvent, ThreadSubscription } from "./thread-subscription.ts";
export {
  createThreadView,
  type ItemState,
  reduceThread,
  type ThreadState,
  type ThreadView,
  type ThreadViewOptions,
} from "./thread-view.ts";
export type { TurnHandle, TurnResult } from "./turn-handle.ts";
export type { ThreadHistory } from "./validation.ts";
