import type {
  GraphStore,
  SessionReceipt,
  StoreBatch,
  StoreReceipt,
  SuspensionReceipt,
} from "@harnesskit/graph";
import { LeaseTable } from "./lease-table.ts";
import { createNumbers } from "./numbers.ts";
import { SessionCache } from "./session-cache.ts";
import { SessionTable } from "./session-table.ts";
import { SqliteLeases } from "./sqlite-leases.ts";
import { StoreFile } from "./store-file.ts";
import { type ResolvedOptions, resolveOptions, type SqliteStoreOptions } from "./store-options.ts";
import { SuspensionTable } from "./suspension-table.ts";

/** The store in an opened file. */
export const createStore = async (file: StoreFile, options: ResolvedOptions): Promise<GraphStore> => {
  const { clock, sync, maxEnded, maxCachedLength, maxHistory, maxValueLength } = options;
  const nextNumber = createNumbers(file);
  const now = () => new Date(clock.now()).toISOString();
  const cache = new SessionCache(maxCachedLength);
  const sessions = new SessionTable(file, { cache, nextNumber, now, maxHistory, maxValueLength });
  const suspensions = new SuspensionTable(file, { maxEnded, nextNumber, now });
  const leaseTable = new LeaseTable(file, nextNumber);
  const leases = new SqliteLeases(file, leaseTable, options);
  await file.write(() => leaseTable.forgetExpired(clock.now()), false);

  const isSynced = (isSuspension: boolean): boolean =>
    sync === "all" || (sync === "suspensions" && isSuspension);

  const commit = async ({ session, suspension, leases: proofs = [] }: StoreBatch): Promise<StoreReceipt> => {
    file.demandOpen();
    if (session === undefined && suspension === undefined && proofs.length === 0) return {};
    const done = await file.write(
      () => {
        for (const proof of proofs) leaseTable.demand(proof, clock.now());
        return {
          session: session === undefined ? undefined : sessions.write(session),
          suspension: suspension === undefined ? undefined : suspensions.write(suspension),
        };
      },
      isSynced(suspension !== undefined),
    );
    if (done.session?.cached !== undefined) cache.set(done.session.cached);
    return {
      ...(done.session === undefined ? {} : { session: { version: done.session.version } }),
      ...(done.suspension === undefined ? {} : { suspension: done.suspension }),
    };
  };

  return {
    sessions: {
      async load(sessionId) {
        const known = await file.readOne(() => sessions.find(sessionId));
        if (known !== undefined) return known?.record ?? null;
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
    },
    leases,
    commit,
    async close() {
      leases.close();
      file.close(() => leases.releaseAll());
      cache.clear();
    },
  };
};

/**
 * Opens a store in a SQLite file, and makes the file where there is none. Several stores of one machine, in one process or in
 * many, may have the same file open. Rejects with `invalid_argument` for options that cannot be, and with a `SqliteStoreError`,
 * whose `reason` says what is wrong with the file.
 */
export const openSqliteStore = async (options: SqliteStoreOptions): Promise<GraphStore> => {
  const resolved = resolveOptions(options);
  const file = await StoreFile.open(resolved);
  try {
    return await createStore(file, resolved);
  } catch (error) {
    file.close(() => {});
    throw error;
  }
};
