export { type AhpServer, createAhpServer } from "./ahp-server.ts";
export type { AuditRecorder, EventDetails } from "./audit-trail.ts";
export type {
  AhpHandlers,
  EventHandler,
  EventOf,
  GenericEvent,
  HandlerCall,
  MaybePromise,
  Nothing,
} from "./handlers.ts";
export { type AhpServerLimits, ahpServerLimits } from "./limits.ts";
export { HandlerError, type HandlerErrorCode, type RefusalReason } from "./refusal.ts";
export type { AhpServerOptions } from "./server-options.ts";
export type { AhpServerGauges, AhpServerStats } from "./server-stats.ts";
export { createMemoryStateStore } from "./state/memory-state-store.ts";
export { type ReplayOptions, replayRuns } from "./state/replay-runs.ts";
export type { AhpState, RunFilter, RunSelector, RunState, RunWatchOptions } from "./state/run-state.ts";
export { parseStateRecord, type StateRecord, StateRecordSchema } from "./state/state-record.ts";
export { type StateStore, StateStoreError, type StateStoreErrorCode } from "./state/state-store.ts";
