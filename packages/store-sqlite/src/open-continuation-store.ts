import type { JsonValue } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { type ContinuationClaim, ContinuationTable } from "./continuation-table.ts";
import { StoreFile } from "./store-file.ts";
import { resolveOptions, type SqliteStoreOptions } from "./store-options.ts";

export interface ContinuationStoreOptions
  extends Pick<
    SqliteStoreOptions,
    "file" | "sync" | "busyTimeoutMs" | "maxQueuedWrites" | "maxFileBytes" | "maxValueLength" | "clock"
  > {
  /** How many continuations that were not used may have data; beyond, the oldest lose theirs. @default 10000 */
  readonly maxKept?: number;
  /** Of how many is known that they were used; one more is `buffer_full`. @default 100000 */
  readonly maxUsed?: number;
}

/**
 * Continuations of shells in a file, for the `continuations` and the `continuationKey` of an engine of
 * `@harnesskit/shell-engine`: what a user was asked can be answered after a restart, and by one of several processes, once.
 */
export interface SqliteContinuationStore {
  /** Signs continuations: 32 bytes, made with the file, and the same for all who open it. */
  readonly key: Uint8Array;
  /** Keeps what a run left, until it expires. Rejects with a `SqliteStoreError`, and with `invalid_argument` for what is no JSON. */
  keep(id: string, data: JsonValue, expiresAtMs: number): Promise<void>;
  /** Uses a continuation: of any number of attempts exactly one is `claimed`. Rejects with `buffer_full` and as `keep` does. */
  claim(id: string, expiresAtMs: number): Promise<ContinuationClaim>;
  /** Takes a claim back. */
  release(id: string): Promise<void>;
  /** Lets the file go. Calls after it reject with `store_closed`. Idempotent. */
  close(): Promise<void>;
}

const demandCount = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError(`${name} must be a whole number above 0`);
};

/**
 * Opens the continuations in a SQLite file, and makes the file where there is none. It may be the file of an open
 * `openSqliteStore`. Rejects as that does.
 */
export const openContinuationStore = async (
  options: ContinuationStoreOptions,
): Promise<SqliteContinuationStore> => {
  const { maxKept = 10_000, maxUsed = 100_000, ...rest } = options;
  const limits = { maxKept: demandCount("maxKept", maxKept), maxUsed: demandCount("maxUsed", maxUsed) };
  const resolved = resolveOptions(rest);
  const { clock } = resolved;
  const isSynced = resolved.sync !== "none";
  const file = await StoreFile.open(resolved);
  try {
    const table = new ContinuationTable(file, limits);
    const key = await file.write(() => table.key(), true);
    return {
      key,
      keep: async (id, data, expiresAtMs) =>
        file.write(() => table.keep(id, data, expiresAtMs, clock.now()), isSynced),
      claim: async (id, expiresAtMs) => file.write(() => table.claim(id, expiresAtMs, clock.now()), isSynced),
      release: async (id) => file.write(() => table.release(id), isSynced),
      close: async () => file.close(() => {}),
    };
  } catch (error) {
    file.close(() => {});
    throw error;
  }
};
