export { type AhpServer, createAhpServer } from "./ahp-server.ts";
export type { AuditRecorder } from "./audit-trail.ts";
export type { AhpHandlers, EventOf, Nothing } from "./handlers.ts";
export type { AhpServerLimits } from "./limits.ts";
export { HandlerError } from "./refusal.ts";
export type { AhpServerOptions } from "./server-options.ts";
export type { Run } from "./state/run.ts";
export { parseStateRecord, type StateRecord } from "./state/state-record.ts";
export { type StateStore, StateStoreError } from "./state/state-store.ts";
