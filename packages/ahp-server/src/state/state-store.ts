import { HarnessError } from "@harnesskit/wire";
import type { StateRecord } from "./state-record.ts";

/**
 * Where the state of runs, task lists and verifications is kept, so that it survives the process and can be replayed. One
 * server uses a store at a time. Contract: `stateStoreContract` of `@harnesskit/ahp-server/testing`.
 */
export interface StateStore {
  /** The size of what is kept, in the store's own unit, such as bytes. Decides when it is compacted. */
  readonly size: number;
  /** What is kept, in the order of its appends; may be asked for again. Throws {@link StateStoreError} `state_unreadable`. */
  load(): Iterable<StateRecord>;
  /**
   * Takes one more record, which `load` gives from then on. Where the store has no `kept`, the end of the process does not lose it when
   * this returns. Throws {@link StateStoreError} `state_not_kept`, and then what was kept before is as it was.
   */
  append(record: StateRecord): void;
  /**
   * Takes these records in place of all others: all of them, or, where it throws `state_not_kept` or the process ends
   * meanwhile, those of before. The records must not come from this store's own `load`.
   */
  replace(records: Iterable<StateRecord>): void;
  /**
   * For a store across a network, which writes in the order of the calls and a moment later: resolves when all that it has taken is kept, so
   * that the end of the process does not lose it. Rejects with `state_not_kept`; what was taken is tried again.
   */
  kept?(): Promise<void>;
  /** Gives it up. Nothing is appended afterwards. A store with `kept` resolves when it has tried to keep the rest. Idempotent. */
  close(): void | Promise<void>;
}

/**
 * - `state_not_kept`: a record could not be written, so that its event is refused;
 * - `state_unreadable`: what is kept cannot be read at all;
 * - `state_damaged`: parts of what was kept cannot be read; the message says where they are, and nothing is changed.
 */
export type StateStoreErrorCode = "state_not_kept" | "state_unreadable" | "state_damaged";

/** A store of the state that does not do what it should. */
export class StateStoreError extends HarnessError<StateStoreErrorCode> {
  static override readonly brand = "StateStoreError";
}
