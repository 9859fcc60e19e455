export {
  type CompileOptions,
  type Durability,
  type GraphErrorContext,
  type GraphLimits,
  type GraphWarning,
  graphLimits,
} from "./compile-options.ts";
export type { CompiledGraph } from "./compiled-graph.ts";
export { END, type End } from "./definition.ts";
export {
  type ChainedError,
  errorCategory,
  errorChain,
  GraphCompileError,
  type GraphCompileErrorCode,
  GraphError,
  type GraphErrorCode,
  type GraphErrorDetails,
  thrownMessage,
} from "./errors.ts";
export { type CheckExtra, defineGraph, type GraphBuilder } from "./graph-builder.ts";
export type { GraphStream, StreamOptions } from "./graph-stream.ts";
export type {
  AmbiguousPlace,
  InvokeOptions,
  RecoverOptions,
  Resolution,
  ResumeOptions,
  SignalPayload,
  StartOptions,
} from "./invoke-options.ts";
export { isList, toList } from "./list.ts";
export type { MiddlewareOfAny } from "./middleware/final-errors.ts";
export { type IsolateOptions, isolate } from "./middleware/isolate.ts";
export { type RetryOptions, retry } from "./middleware/retry.ts";
export { type TimeoutOptions, timeout } from "./middleware/timeout.ts";
export type {
  BodyOptions,
  BranchOptions,
  CollectedError,
  ErrorPolicy,
  ErrorPolicyOptions,
  FanOutOptions,
  FieldMapping,
  FieldNames,
  NodeOptions,
  ParallelOptions,
  SubgraphOptions,
} from "./node-options.ts";
export type { DrainOptions, DrainSummary } from "./observers/event-queue.ts";
export type {
  EventError,
  EventPhase,
  FanOutConfig,
  NodeEvent,
  Observer,
  ParallelBranchesConfig,
} from "./observers/node-event.ts";
export type { ObserverInput, ObserverOptions } from "./observers/observers.ts";
export type { CompletedOutcome, GraphOutcome, InvocationEnd, SuspendedOutcome } from "./outcome.ts";
export type {
  EffectOptions,
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
  GraphSessionState,
  PausedInvocation,
  SavedState,
  SessionStateOptions,
} from "./sessions/session-state.ts";
export type { Field, FieldSchema, ReducerName, SchemaIssue, SchemaResult } from "./state/field.ts";
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
export {
  type GraphStore,
  type StoreBatch,
  StoreError,
  type StoreErrorCode,
  type StoreReceipt,
} from "./stores/graph-store.ts";
export { LeaseQueue, type LeaseQueueOptions, type LeaseTable } from "./stores/lease-queue.ts";
export {
  type HeldLease,
  holdLease,
  invocationLeaseKey,
  type Lease,
  type LeaseOptions,
  type LeaseProof,
  type LeaseStore,
  sessionLeaseKey,
} from "./stores/lease-store.ts";
export {
  createMemoryStore,
  type MemoryStoreLimits,
  type MemoryStoreOptions,
  memoryStoreLimits,
} from "./stores/memory-store.ts";
export {
  checkRunAppend,
  type RunAppend,
  type RunEnd,
  type RunEntry,
  type RunFailure,
  type RunFilter,
  type RunList,
  type RunRecord,
  type RunStore,
  type RunSummary,
  type RunWrite,
  runSummary,
  type StoredRun,
} from "./stores/run-store.ts";
export { type CachedSession, SessionCache } from "./stores/session-cache.ts";
export {
  checkSessionWrite,
  type ListChange,
  type SessionChanges,
  type SessionFilter,
  type SessionReceipt,
  type SessionStore,
  type SessionWrite,
  type StoredList,
  type StoredSession,
  type StoredState,
  wholeChanges,
} from "./stores/session-store.ts";
export {
  checkSuspensionWrite,
  patchSuspension,
  type StoredFrame,
  type StoredSuspension,
  type SuspensionFilter,
  type SuspensionPatch,
  type SuspensionPut,
  type SuspensionReceipt,
  type SuspensionStore,
  type SuspensionWrite,
  suspensionSummary,
} from "./stores/suspension-store.ts";
