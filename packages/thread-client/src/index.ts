export type {
  ApprovalDecision,
  ApprovalMetadata,
  Event,
  EventBody,
  InputPart,
  Item,
  ModelRef,
  Thread,
  ThreadCapabilities,
  Turn,
} from "@harnesskit/protocol/threads";
export type { ApprovalHandler, ApprovalRequest } from "./approval-desk.ts";
export type {
  CreateThreadParams,
  EventStream,
  GetThreadOptions,
  StartTurnOptions,
  ThreadClient,
  ThreadClientOptions,
  ThreadClientStats,
} from "./client-options.ts";
export {
  ApprovalError,
  type ApprovalErrorCode,
  MalformedMessageError,
  ThreadError,
  type ThreadErrorName,
  VersionMismatchError,
} from "./errors.ts";
export { type BufferLimits, type ClientLimits, defaultClientLimits } from "./limits.ts";
export { createThreadClient } from "./thread-client.ts";
export type { ItemState, ThreadState } from "./thread-state.ts";
export { createThreadView, reduceThread, type ThreadView, type ThreadViewOptions } from "./thread-view.ts";
export type { TurnHandle, TurnResult } from "./turn-handle.ts";
export type { ThreadHistory } from "./validation.ts";
