export type { CompileOptions } from "./compile-options.ts";
export type { CompiledGraph } from "./compiled-graph.ts";
export type { ErrorPolicy } from "./definition.ts";
export { END, type End } from "./end.ts";
export {
  errorCategory,
  GraphCompileError,
  type GraphCompileErrorCode,
  GraphError,
  type GraphErrorCode,
  type GraphErrorDetails,
} from "./errors.ts";
export { type CheckExtra, defineGraph, type GraphBuilder } from "./graph-builder.ts";
export type { GraphStream, StreamOptions } from "./graph-stream.ts";
export type { InvokeOptions, ResumeOptions, SignalPayload, StartOptions } from "./invoke-options.ts";
export { type IsolateOptions, isolate } from "./middleware/isolate.ts";
export type { MiddlewareOfAny } from "./middleware/middleware-of-any.ts";
export { type RetryOptions, retry } from "./middleware/retry.ts";
export { type TimeoutOptions, timeout } from "./middleware/timeout.ts";
export type {
  BranchOptions,
  CollectedError,
  ErrorPolicyOptions,
  FanOutOptions,
  FieldMapping,
  FieldNames,
  NodeOptions,
  ParallelOptions,
  SubgraphOptions,
} from "./node-options.ts";
export type { DrainOptions, DrainSummary } from "./observers/drain.ts";
export type {
  EventError,
  EventPhase,
  FanOutConfig,
  NodeEvent,
  Observer,
  ParallelBranchesConfig,
} from "./observers/node-event.ts";
export type { ObserverInput, ObserverOptions } from "./observers/observers.ts";
export type { GraphWarning } from "./observers/warn.ts";
export type { CompletedOutcome, GraphOutcome, InvocationEnd, SuspendedOutcome } from "./outcome.ts";
export type {
  InvocationInfo,
  MaybePromise,
  Middleware,
  MiddlewareContext,
  NextOptions,
  NodeBody,
  NodeContext,
  NodeResult,
  Nothing,
  SuspendDescriptor,
  SuspendOptions,
} from "./run/context.ts";
export { isSuspension } from "./run/pause.ts";
export type { Migration, SessionOptions } from "./sessions/session-options.ts";
export type {
  PausedInvocation,
  SavedState,
  SessionState,
  SessionStateOptions,
} from "./sessions/session-state.ts";
export { SharedList } from "./shared-list.ts";
export type { Field, ReducerName } from "./state/field.ts";
export type { ItemKey, KeyOf } from "./state/item-key.ts";
export {
  append,
  concatFlatten,
  type DedupeOptions,
  dedupeAppend,
  type ListOptions,
} from "./state/list-fields.ts";
export {
  defineState,
  type Fields,
  type FieldUpdate,
  type FieldValue,
  type InitialOf,
  type StateOf,
  type StateSchema,
  type UpdateOf,
} from "./state/schema.ts";
export type { FieldSchema, SchemaIssue, SchemaResult } from "./state/standard-schema.ts";
export {
  type BoundedOptions,
  boundedAppend,
  field,
  type KeyedOptions,
  lastWriteWins,
  type MappingOptions,
  merge,
  mergeAll,
  mergeByKey,
} from "./state/value-fields.ts";
export type { GraphStore, StoreBatch, StoreReceipt } from "./stores/graph-store.ts";
export { type HeldLease, holdLease } from "./stores/held-lease.ts";
export { type JoinedStores, joinStores } from "./stores/join-stores.ts";
export type { Lease, LeaseOptions, LeaseProof, LeaseStore } from "./stores/lease-store.ts";
export { createMemoryStore, type MemoryStoreOptions } from "./stores/memory-store.ts";
export type {
  SessionChanges,
  SessionFilter,
  SessionReceipt,
  SessionStore,
  SessionWrite,
  StoredSession,
} from "./stores/session-store.ts";
export { StoreError, type StoreErrorCode } from "./stores/store-error.ts";
export type { ListChange, StoredList, StoredState } from "./stores/stored-state.ts";
export type {
  StoredFrame,
  StoredSuspension,
  SuspensionFilter,
  SuspensionPatch,
  SuspensionPut,
  SuspensionReceipt,
  SuspensionStore,
  SuspensionWrite,
} from "./stores/suspension-store.ts";
