import { HarnessError } from "@harnesskit/wire";

/** What a store can refuse. */
export type StoreErrorCode =
  | "store_failed"
  | "store_closed"
  | "store_full"
  | "session_write_conflict"
  | "suspension_conflict"
  | "signal_taken"
  | "lease_taken"
  | "lease_lost";

/** A store could not do what it was asked for. Nothing was written. */
export class StoreError extends HarnessError {
  override readonly name = "StoreError";
  declare readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
