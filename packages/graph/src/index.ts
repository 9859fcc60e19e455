export type {
  CompileOptions,
  Durability,
  GraphErrorContext,
  GraphLimits,
  GraphWarning,
} from "./compile-options.ts";
export type { CompiledGraph } from "./compiled-graph.ts";
export { END } from "./definition.ts";
export {
  type ChainedError,
  errorCategory,
  errorChain,
  GraphCompileError,
  type GraphCompileErrorCode,
  GraphError,
  type GraphErrorCode,
  thrownMessage,
} from "./errors.ts";
export { defineGraph, type GraphBuilder } from "./graph-builder.ts";
export type { GraphStream, StreamOptions } from "./graph-stream.ts";
export type {
  InvokeOptions,
  RecoverOptions,
  Resolution,
  SignalPayload,
  StartOptions,
} from "./invoke-options.ts";
export { isList, toList } from "./list.ts";
export type { MiddlewareOfAny } from "./middleware/final-errors.ts";
export { type IsolateOptions, isolate } from "./middleware/isolate.ts";
export { type RetryOptions, retry } from "./middleware/retry.ts";
export { type TimeoutOptions, timeout } from "./middleware/timeout.ts";
export type { CollectedError } from "./node-options.ts";
export type { DrainOptions, DrainSummary } from "./observers/event-queue.ts";
export type { EventError, NodeEvent, Observer } from "./observers/node-event.ts";
export type { ObserverInput, ObserverOptions } from "./observers/observers.ts";
export type { CompletedOutcome, GraphOutcome, InvocationEnd, SuspendedOutcome } from "./outcome.ts";
export type {
  InvocationInfo,
  MaybePromise,
  Middleware,
  MiddlewareContext,
  NodeBody,
  NodeContext,
  NodeResult,
  Nothing,
  SuspendDescriptor,
  SuspendOptions,
} from "./run/context.ts";
export { isSuspension } from "./run/pause.ts";
export type { SessionOptions } from "./sessions/session-options.ts";
export type { GraphSessionState, SessionStateOptions } from "./sessions/session-state.ts";
export type { Field } from "./state/field.ts";
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
export { createMemoryStore, type MemoryStoreLimits, type MemoryStoreOptions } from "./stores/memory-store.ts";
export {
  checkRunAppend,
  type RunAppend,
  type RunFilter,
  type RunRecord,
  type RunSummary,
  type RunWrite,
  runSummary,
  type StoredRun,
} from "./stores/run-store.ts";
export { type CachedSession, SessionCache } from "./stores/session-cache.ts";
export {
  checkSessionWrite,
  type SessionChanges,
  type SessionFilter,
  type SessionReceipt,
  type SessionWrite,
  type StoredList,
  type StoredSession,
  type StoredState,
  wholeChanges,
} from "./stores/session-store.ts";
export {
  checkSuspensionWrite,
  patchSuspension,
  type StoredSuspension,
  type SuspensionFilter,
  type SuspensionPatch,
  type SuspensionPut,
  type SuspensionReceipt,
  type SuspensionStore,
  type SuspensionWrite,
  suspensionSummary,
} from "./stores/suspension-store.ts";
