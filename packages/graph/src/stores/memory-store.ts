import type { SessionSummary } from "@harnesskit/protocol/chat";
import { type Clock, defineLimits, type LimitsOf, systemClock } from "@harnesskit/wire";
import { checkMemoryStoreOptions } from "../option-names.ts";
import { type GraphStore, type StoreBatch, StoreError, type StoreReceipt } from "./graph-store.ts";
import { LeaseQueue, type LeaseTable } from "./lease-queue.ts";
import type { LeaseProof } from "./lease-store.ts";
import { MemoryRuns } from "./memory-runs.ts";
import {
  checkSessionWrite,
  type SessionFilter,
  type SessionReceipt,
  type SessionWrite,
  type StoredSession,
} from "./session-store.ts";
import { SuspensionIndex } from "./suspension-index.ts";
import {
  checkSuspensionWrite,
  patchSuspension,
  type StoredSuspension,
  type SuspensionReceipt,
  type SuspensionWrite,
  suspensionIdOf,
  suspensionSummary,
} from "./suspension-store.ts";

/** What the store in memory keeps at most. */
export const memoryStoreLimits = defineLimits({
  /** Sessions; a write of another is refused with `store_full`. */
  maxSessions: 100_000,
  /** States of each session, including the current one; then the oldest are dropped. */
  maxHistory: 50,
  /** Suspensions that wait at once; another is refused with `store_full`. */
  maxSuspensions: 100_000,
  /** Suspensions that have ended and are delivered; then the oldest are dropped. */
  maxEnded: { default: 10_000, min: 0 },
  /** Runs with `durability: "node"` that are open at once; another is refused with `store_full`. */
  maxRuns: 100_000,
});
export type MemoryStoreLimits = LimitsOf<typeof memoryStoreLimits>;

export interface MemoryStoreOptions {
  /** @default see each limit of `memoryStoreLimits` */
  readonly limits?: Partial<MemoryStoreLimits> | undefined;
  /** Time. @default that of the system */
  readonly clock?: Clock | undefined;
}

const sessionSummary = ({ state: _, ...summary }: StoredSession): SessionSummary => summary;

const createLeaseTable = (
  clock: Clock,
  nextNumber: () => number,
): LeaseTable & { demand(proof: LeaseProof): void } => {
  const holders = new Map<string, { readonly fence: number; readonly expiresAtMs: number }>();
  const demand = ({ key, fence }: LeaseProof) => {
    const holder = holders.get(key);
    if (holder?.fence === fence && holder.expiresAtMs > clock.elapsedMs()) return;
    throw new StoreError("lease_lost", `the lease of ${key} is not held any more`);
  };
  const dropExpired = () => {
    for (const [key, { expiresAtMs }] of holders) {
      if (expiresAtMs > clock.elapsedMs()) break;
      holders.delete(key);
    }
  };
  return {
    demand,
    take(key, ttlMs) {
      dropExpired();
      const heldForMs = (holders.get(key)?.expiresAtMs ?? Number.NEGATIVE_INFINITY) - clock.elapsedMs();
      if (heldForMs > 0) return { heldForMs };
      const fence = nextNumber();
      holders.set(key, { fence, expiresAtMs: clock.elapsedMs() + ttlMs });
      return { fence };
    },
    renew(proof, ttlMs) {
      demand(proof);
      holders.delete(proof.key);
      holders.set(proof.key, { fence: proof.fence, expiresAtMs: clock.elapsedMs() + ttlMs });
    },
    release({ key, fence }) {
      if (holders.get(key)?.fence === fence) holders.delete(key);
    },
  };
};

/**
 * Sessions and suspensions in the memory of this process, for tests and for what need not survive it. States are frozen and
 * shared, so that a turn costs what is new in it. Throws `invalid_argument` for a limit out of range.
 */
export const createMemoryStore = (options: MemoryStoreOptions = {}): GraphStore => {
  checkMemoryStoreOptions(options);
  const { clock = systemClock } = options;
  const { maxSessions, maxHistory, maxSuspensions, maxEnded, maxRuns } = memoryStoreLimits.resolve(
    options.limits,
  );
  const sessions = new Map<string, StoredSession>();
  /** By session, the states before the current one, the oldest first. */
  const histories = new Map<string, StoredSession[]>();
  const suspensions = new SuspensionIndex();
  const runs = new MemoryRuns(maxRuns);
  /** Ids of suspensions that have ended and are delivered, the oldest first. */
  const ended = new Set<string>();
  let lastNumber = 0;
  let isClosed = false;
  const nextNumber = () => ++lastNumber;
  const leaseTable = createLeaseTable(clock, nextNumber);
  const leases = new LeaseQueue({ table: leaseTable, clock });
  const now = () => new Date(clock.now()).toISOString();
  const demandOpen = () => {
    if (isClosed) throw new StoreError("store_closed", "the store is closed");
  };

  const checkSession = (write: SessionWrite): void => {
    const stored = sessions.get(write.sessionId)?.version ?? null;
    checkSessionWrite(write, stored);
    if (stored === null && sessions.size >= maxSessions) {
      throw new StoreError("store_full", `maxSessions of ${maxSessions} is reached`);
    }
  };
  const remember = (record: StoredSession): void => {
    const history = histories.get(record.session_id) ?? [];
    history.push(record);
    if (history.length >= maxHistory) history.shift();
    histories.set(record.session_id, history);
  };
  const writeSession = ({ sessionId, state, schemaVersion }: SessionWrite): SessionReceipt => {
    const version = nextNumber();
    const time = now();
    const before = sessions.get(sessionId);
    if (before !== undefined) remember(before);
    // Inserted again, so that the order of the map is the order of the writes.
    sessions.delete(sessionId);
    const created = before?.created_at ?? time;
    const times = { created_at: created, updated_at: time };
    const record = { session_id: sessionId, state, schema_version: schemaVersion, version, ...times };
    sessions.set(sessionId, Object.freeze(record));
    return { version };
  };

  const checkSuspension = (write: SuspensionWrite): void => {
    const id = suspensionIdOf(write);
    const stored = suspensions.get(id);
    checkSuspensionWrite(write, stored);
    if (write.kind === "patch") return;
    if (stored === undefined && suspensions.suspendedCount >= maxSuspensions) {
      throw new StoreError("store_full", `maxSuspensions of ${maxSuspensions} is reached`);
    }
    const signalId = write.record.descriptor.signal_id;
    if (write.isSignalUnique === true && suspensions.isTaken(signalId, id)) {
      throw new StoreError("signal_taken", `another invocation waits for ${signalId}`);
    }
  };
  const writeSuspension = (write: SuspensionWrite): SuspensionReceipt => {
    const added = { revision: nextNumber(), updated_at: now() };
    let record: StoredSuspension;
    if (write.kind === "put") record = { ...write.record, ...added };
    else {
      const stored = suspensions.get(write.invocationId) as StoredSuspension;
      const state = write.status === undefined ? {} : { frames: [], completed_positions: [] };
      record = patchSuspension({ ...stored, ...state }, write, added);
    }
    suspensions.set(Object.freeze(record));
    if (record.status !== "suspended" && record.is_delivered) ended.add(record.invocation_id);
    for (const oldest of ended) {
      if (ended.size <= maxEnded) break;
      ended.delete(oldest);
      suspensions.delete(oldest);
    }
    return { revision: added.revision };
  };

  const commit = async (batch: StoreBatch): Promise<StoreReceipt> => {
    const { session, suspension, run, leases: proofs = [] } = batch;
    demandOpen();
    for (const proof of proofs) leaseTable.demand(proof);
    if (session !== undefined) checkSession(session);
    if (suspension !== undefined) checkSuspension(suspension);
    if (run !== undefined) runs.check(run);
    if (run !== undefined) runs.write(run);
    return {
      session: session === undefined ? undefined : writeSession(session),
      suspension: suspension === undefined ? undefined : writeSuspension(suspension),
    };
  };

  const open = async <T>(work: () => T): Promise<T> => {
    demandOpen();
    return work();
  };
  return {
    sessions: {
      load: (sessionId) => open(() => sessions.get(sessionId) ?? null),
      save: async (write) => (await commit({ session: write })).session as SessionReceipt,
      delete: (sessionId) =>
        open(() => {
          sessions.delete(sessionId);
          histories.delete(sessionId);
        }),
      history: (sessionId, limit) =>
        open(() => {
          const current = sessions.get(sessionId);
          if (current === undefined) return [];
          return [...(histories.get(sessionId) ?? []), current].reverse().slice(0, limit);
        }),
      list: ({ schemaVersion, updatedBefore }: SessionFilter = {}) =>
        open(() =>
          [...sessions.values()]
            .reverse()
            .filter((record) => schemaVersion === undefined || record.schema_version === schemaVersion)
            .filter((record) => updatedBefore === undefined || record.updated_at < updatedBefore)
            .map(sessionSummary),
        ),
    },
    suspensions: {
      load: (invocationId) => open(() => suspensions.get(invocationId) ?? null),
      save: async (write) => (await commit({ suspension: write })).suspension as SuspensionReceipt,
      delete: (invocationId) =>
        open(() => {
          ended.delete(invocationId);
          suspensions.delete(invocationId);
        }),
      list: (filter = {}) => open(() => suspensions.list(filter).map(suspensionSummary)),
    },
    runs: {
      load: (runId) => open(() => runs.load(runId)),
      list: (filter = {}) => open(() => runs.list(filter)),
      delete: (runId) => open(() => runs.delete(runId)),
    },
    leases,
    commit,
    async close() {
      isClosed = true;
      leases.close();
    },
  };
};
