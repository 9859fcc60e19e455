export type {
  CompileOptions,
  GraphErrorContext,
  GraphLimits,
} from "./compile-options.ts";
export type { CompiledGraph } from "./compiled-graph.ts";
export { END } from "./definition.ts";
export {
  errorCategory,
  errorChain,
  GraphCompileError,
  GraphError,
  hasCode,
  thrownMessage,
} from "./errors.ts";
export { defineGraph } from "./graph-builder.ts";
export type { GraphStream } from "./graph-stream.ts";
export type {
  InvokeOptions,
  RecoverOptions,
  Resolution,
  SignalPayload,
  StartOptions,
} from "./invoke-options.ts";
export { isList, toList } from "./list.ts";
export { isolate } from "./middleware/isolate.ts";
export { retry } from "./middleware/retry.ts";
export { timeout } from "./middleware/timeout.ts";
export type { NodeEvent } from "./observers/node-event.ts";
export type { GraphOutcome, InvocationEnd, SuspendedOutcome } from "./outcome.ts";
export type {
  Middleware,
  NodeBody,
  NodeContext,
} from "./run/context.ts";
export { isSuspension } from "./run/pause.ts";
export type { SessionOptions } from "./sessions/session-options.ts";
export type { SessionStateOptions } from "./sessions/session-state.ts";
export type { Field } from "./state/field.ts";
export {
  append,
  boundedAppend,
  concatFlatten,
  dedupeAppend,
  mergeByKey,
} from "./state/list-fields.ts";
export {
  defineState,
  type Fields,
  type InitialOf,
  type StateOf,
  type StateSchema,
  type UpdateOf,
} from "./state/schema.ts";
export { field, lastWriteWins, merge, mergeAll } from "./state/value-fields.ts";
export {
  type GraphStore,
  type StoreBatch,
  StoreError,
  type StoreReceipt,
} from "./stores/graph-store.ts";
export {
  type HeldLease,
  holdLease,
  invocationLeaseKey,
  type Lease,
  type LeaseProof,
  sessionLeaseKey,
} from "./stores/lease-store.ts";
export { createMemoryStore, type MemoryStoreLimits } from "./stores/memory-store.ts";
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
  type SuspensionPut,
  type SuspensionReceipt,
  type SuspensionStore,
  type SuspensionWrite,
  suspensionSummary,
} from "./stores/suspension-store.ts";
export { type LeaseTable, TableLeases } from "./stores/table-leases.ts";
