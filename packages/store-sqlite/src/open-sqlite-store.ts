import {
  type GraphStore,
  SessionCache,
  type SessionReceipt,
  type StoreBatch,
  type StoreReceipt,
  type SuspensionReceipt,
  TableLeases,
} from "@harnesskit/graph";
import { EndWatch } from "./end-watch.ts";
import { SqliteLeaseTable } from "./lease-table.ts";
import { checkSqliteStoreOptions } from "./option-names.ts";
import { RunTable } from "./run-table.ts";
import { SessionTable } from "./session-table.ts";
import { StoreFile } from "./store-file.ts";
import { type ResolvedOptions, resolveOptions, type SqliteStoreOptions } from "./store-options.ts";
import { SuspensionTable } from "./suspension-table.ts";

/** The store in an opened file. */
export const createStore = async (file: StoreFile, options: ResolvedOptions): Promise<GraphStore> => {
  const { sync, leasePollMs: pollMs } = options;
  const cache = new SessionCache(options.maxCachedLength);
  const sessions = new SessionTable(file, cache, options.maxHistory);
  const suspensions = new SuspensionTable(file, options.maxEnded);
  const runs = new RunTable(file);
  const table = new SqliteLeaseTable(file);
  const leases = new TableLeases(table, { clock: options.clock, pollMs });
  const ends = new EndWatch(file, suspensions, options.endPollMs);
  await table.deleteExpired();

  const isSynced = (isSuspension: boolean): boolean =>
    sync === "all" || (sync === "suspensions" && isSuspension);

  const commit = async (batch: StoreBatch): Promise<StoreReceipt> => {
    const { session, suspension, run, leases: proofs = [] } = batch;
    file.checkOpen();
    const isEmpty = session === undefined && suspension === undefined && run === undefined;
    if (isEmpty && proofs.length === 0) return {};
    const done = await file.write(
      () => {
        for (const proof of proofs) table.check(proof);
        if (run !== undefined) runs.write(run);
        return {
          session: session === undefined ? undefined : sessions.write(session),
          suspension: suspension === undefined ? undefined : suspensions.write(suspension),
        };
      },
      isSynced(suspension !== undefined || run !== undefined),
    );
    if (done.session?.cached !== undefined) cache.set(done.session.cached);
    return {
      session: done.session === undefined ? undefined : { version: done.session.version },
      suspension: done.suspension,
    };
  };

  return {
    sessions: {
      async load(sessionId) {
        const cached = await file.readOne(() => sessions.cached(sessionId));
        if (cached !== undefined) return cached?.record ?? null;
        const read = await file.read(() => sessions.read(sessionId));
        if (read !== null) cache.set(read);
        return read?.record ?? null;
      },
      save: async (write) => (await commit({ session: write })).session as SessionReceipt,
      async delete(sessionId) {
        await file.write(() => sessions.delete(sessionId), isSynced(false));
        cache.delete(sessionId);
      },
      history: async (sessionId, limit) => file.read(() => sessions.history(sessionId, limit)),
      list: async (filter = {}) => file.readOne(() => sessions.list(filter)),
    },
    suspensions: {
      load: async (invocationId) => file.read(() => suspensions.read(invocationId)),
      save: async (write) => (await commit({ suspension: write })).suspension as SuspensionReceipt,
      delete: async (invocationId) => file.write(() => suspensions.delete(invocationId), isSynced(true)),
      list: async (filter = {}) => file.readOne(() => suspensions.list(filter)),
      watchEnds: ends.watch,
    },
    runs: {
      load: async (runId) => file.read(() => runs.read(runId)),
      list: async (filter = {}) => file.readOne(() => runs.list(filter)),
      delete: async (runId) => file.write(() => runs.delete(runId), isSynced(true)),
    },
    leases,
    commit,
    async close() {
      ends.close();
      const held = leases.close();
      file.close(() => {
        for (const proof of held) table.releaseNow(proof);
      });
    },
  };
};

/**
 * Opens a store in a SQLite file, and creates the file if it does not exist. Several stores of one machine, in one process or
 * in many, may have the same file open. Rejects with `invalid_argument` for options that are not valid, and with a
 * `StoreError` whose `reason` is a {@link SqliteStoreReason}.
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<GraphStore> => {
  checkSqliteStoreOptions(options);
  const resolved = resolveOptions(options);
  return StoreFile.openFor(resolved, (file) => createStore(file, resolved));
};
