import {
  type GraphStore,
  SessionCache,
  type SessionReceipt,
  type StoreBatch,
  StoreError,
  type StoreReceipt,
  type SuspensionReceipt,
  TableLeases,
} from "@harnesskit/graph";
import type { Database } from "./database.ts";
import { PostgresLeaseTable } from "./lease-table.ts";
import { RunTable } from "./run-table.ts";
import { SessionTable } from "./session-table.ts";
import { SuspensionTable } from "./suspension-table.ts";
import type { Wakes } from "./wakes.ts";

/** Sessions, suspensions and leases of a database. Its `close` releases its leases, and leaves the connections open. */
export const createGraphStore = (database: Database, wakes: Wakes): GraphStore => {
  const { limits, clock } = database.options;
  const cache = new SessionCache(limits.maxCachedLength);
  const sessions = new SessionTable(database, cache);
  const suspensions = new SuspensionTable(database);
  const runs = new RunTable(database);
  const table = new PostgresLeaseTable(database, wakes);
  const onRelease = (key: string, listener: () => void) => wakes.listen("leases", key, listener);
  const leases = new TableLeases(table, { clock, pollMs: limits.leasePollMs, onRelease });
  wakes.setPoll("ends", (keys) => suspensions.sessionsWithEnds(keys));
  let closed: Promise<void> | undefined;
  const checkOpen = () => {
    if (closed !== undefined) throw new StoreError("store_closed", "the store is closed");
    database.checkOpen();
  };

  const commit = async (batch: StoreBatch): Promise<StoreReceipt> => {
    const { session, suspension, run, leases: proofs = [] } = batch;
    checkOpen();
    const isEmpty = session === undefined && suspension === undefined && run === undefined;
    if (isEmpty && proofs.length === 0) return {};
    // Locks are taken in one order, so that no two writes wait for each other.
    const done = await database.write(async (transaction) => {
      await table.check(transaction, proofs);
      if (run !== undefined) await runs.write(transaction, run);
      return {
        session: session === undefined ? undefined : await sessions.write(transaction, session),
        suspension: suspension === undefined ? undefined : await suspensions.write(transaction, suspension),
      };
    });
    if (done.session?.cached !== undefined) cache.set(done.session.cached);
    const { endedSession } = done.suspension ?? {};
    if (endedSession !== undefined) wakes.changed("ends", endedSession);
    return {
      session: done.session === undefined ? undefined : { version: done.session.version },
      suspension: done.suspension?.receipt,
    };
  };

  const open = async <T>(work: () => Promise<T>): Promise<T> => {
    checkOpen();
    return work();
  };
  return {
    sessions: {
      load: (sessionId) => open(() => sessions.load(sessionId)),
      save: async (write) => (await commit({ session: write })).session as SessionReceipt,
      delete: (sessionId) => open(() => sessions.delete(sessionId)),
      history: (sessionId, limit) => open(() => sessions.history(sessionId, limit)),
      list: (filter = {}) => open(() => sessions.list(filter)),
    },
    suspensions: {
      load: (invocationId) => open(() => suspensions.load(invocationId)),
      save: async (write) => (await commit({ suspension: write })).suspension as SuspensionReceipt,
      delete: (invocationId) => open(() => suspensions.delete(invocationId)),
      list: (filter = {}) => open(() => suspensions.list(filter)),
      watchEnds(sessionId, listener) {
        checkOpen();
        return wakes.listen("ends", sessionId, listener);
      },
    },
    runs: {
      load: (runId) => open(() => runs.load(runId)),
      list: (filter = {}) => open(() => runs.list(filter)),
      delete: (runId) => open(() => runs.delete(runId)),
    },
    leases,
    commit,
    close() {
      closed ??= (async () => {
        for (const proof of leases.close()) await table.release(proof).catch(database.options.onError);
        await table.deleteExpired().catch(database.options.onError);
      })();
      return closed;
    },
  };
};
