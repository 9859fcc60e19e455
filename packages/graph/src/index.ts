export { SharedList } from "./shared-list.ts";
export type { GraphStore, StoreBatch, StoreReceipt } from "./stores/graph-store.ts";
export type { Lease, LeaseOptions, LeaseProof, LeaseStore } from "./stores/lease-store.ts";
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
