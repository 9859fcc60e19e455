import type { SessionSummary } from "@harnesskit/protocol/chat";
import { type Clock, defineLimits, defineOptions, type LimitsOf, systemClock } from "@harnesskit/wire";
import { type GraphStore, type StoreBatch, StoreError, type StoreReceipt } from "./graph-store.ts";
import type { LeaseProof } from "./lease-store.ts";
import { checkRunAppend, type RunEntry, type RunRecord, type RunWrite, runSummary } from "./run-store.ts";
import {
  checkSessionWrite,
  type SessionReceipt,
  type SessionWrite,
  type StoredSession,
} from "./session-store.ts";
import {
  checkSuspensionWrite,
  patchSuspension,
  type StoredSuspension,
  type SuspensionFilter,
  type SuspensionReceipt,
  type SuspensionWrite,
  suspensionSummary,
} from "./suspension-store.ts";
import { TableLeases } from "./table-leases.ts";

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

const checkOptions = defineOptions<MemoryStoreOptions>("createMemoryStore", { limits: false, clock: false });

const sessionSummary = ({ state: _, ...summary }: StoredSession): SessionSummary => summary;

const matches = (record: StoredSuspension, filter: SuspensionFilter): boolean =>
  (filter.status === undefined || record.status === filter.status) &&
  (filter.sessionId === undefined || record.session_id === filter.sessionId) &&
  (filter.signalId === undefined || record.descriptor.signal_id === filter.signalId) &&
  (filter.isDelivered === undefined || record.is_delivered === filter.isDelivered);

const isOpen = ({ status, is_delivered }: StoredSuspension): boolean =>
  status === "suspended" || !is_delivered;

const bySuspension = (a: StoredSuspension, b: StoredSuspension): number =>
  a.suspended_at < b.suspended_at ? -1 : Number(a.suspended_at > b.suspended_at);

/**
 * Sessions and suspensions in the memory of this process, for tests and for what need not survive it. States are frozen and
 * shared, so that a turn costs what is new in it. Throws `invalid_argument` for a limit out of range.
 */
export const createMemoryStore = (options: MemoryStoreOptions = {}): GraphStore => {
  const { clock = systemClock, limits: given } = checkOptions(options);
  const limits = memoryStoreLimits.resolve(given);
  /** By session, its states, the current one last. In the order of their last writes. */
  const sessions = new Map<string, StoredSession[]>();
  /** Suspensions that wait, or whose end is not delivered. */
  const open = new Map<string, StoredSuspension>();
  /** Those that have ended and are delivered, the oldest first. */
  const ended = new Map<string, StoredSuspension>();
  /** In the order in which they began. */
  const runs = new Map<string, { readonly record: RunRecord; readonly entries: RunEntry[] }>();
  let suspendedCount = 0;
  let lastNumber = 0;
  let isClosed = false;
  const nextNumber = () => ++lastNumber;
  /** By key, who holds it, in time that no one sets. */
  const holders = new Map<string, { readonly fence: number; readonly expiresAtMs: number }>();
  const hold = (key: string, fence: number, ttlMs: number) =>
    holders.set(key, { fence, expiresAtMs: clock.elapsedMs() + ttlMs });
  const demandLease = ({ key, fence }: LeaseProof) => {
    const holder = holders.get(key);
    if (holder?.fence === fence && holder.expiresAtMs > clock.elapsedMs()) return;
    throw new StoreError("lease_lost", `the lease of ${key} is not held any more`);
  };
  const leases = new TableLeases(
    {
      take(key, ttlMs) {
        const heldForMs = (holders.get(key)?.expiresAtMs ?? 0) - clock.elapsedMs();
        if (heldForMs > 0) return { heldForMs };
        const fence = nextNumber();
        hold(key, fence, ttlMs);
        return { fence };
      },
      renew(proof, ttlMs) {
        demandLease(proof);
        hold(proof.key, proof.fence, ttlMs);
      },
      release({ key, fence }) {
        if (holders.get(key)?.fence === fence) holders.delete(key);
      },
    },
    { clock },
  );
  const now = () => new Date(clock.now()).toISOString();
  const full = (limit: keyof MemoryStoreLimits) =>
    new StoreError("store_full", `${limit} of ${limits[limit]} is reached`);

  const checkSession = (write: SessionWrite): void => {
    const stored = sessions.get(write.sessionId)?.at(-1)?.version ?? null;
    checkSessionWrite(write, stored);
    if (stored === null && sessions.size >= limits.maxSessions) throw full("maxSessions");
  };
  const writeSession = ({ sessionId, state, schemaVersion }: SessionWrite): SessionReceipt => {
    const version = nextNumber();
    const updated_at = now();
    const states = sessions.get(sessionId) ?? [];
    const created_at = states[0]?.created_at ?? updated_at;
    const record = { session_id: sessionId, state, schema_version: schemaVersion, version };
    states.push(Object.freeze({ ...record, created_at, updated_at }));
    if (states.length > limits.maxHistory) states.shift();
    // Inserted again, so that the order of the map is the order of the writes.
    sessions.delete(sessionId);
    sessions.set(sessionId, states);
    return { version };
  };

  const findSuspension = (id: string) => open.get(id) ?? ended.get(id);
  const removeSuspension = (id: string): void => {
    if (open.get(id)?.status === "suspended") suspendedCount--;
    open.delete(id);
    ended.delete(id);
  };
  const checkSuspension = (write: SuspensionWrite): void => {
    const id = write.kind === "put" ? write.record.invocation_id : write.invocationId;
    const stored = findSuspension(id);
    checkSuspensionWrite(write, stored);
    if (write.kind === "patch") return;
    if (stored === undefined && suspendedCount >= limits.maxSuspensions) throw full("maxSuspensions");
    if (write.isSignalUnique !== true) return;
    const signalId = write.record.descriptor.signal_id;
    for (const other of open.values()) {
      const isTaken = other.status === "suspended" && other.descriptor.signal_id === signalId;
      if (!isTaken || other.invocation_id === id) continue;
      throw new StoreError("signal_taken", `another invocation waits for ${signalId}`);
    }
  };
  const writeSuspension = (write: SuspensionWrite): SuspensionReceipt => {
    const added = { revision: nextNumber(), updated_at: now() };
    let record: StoredSuspension;
    if (write.kind === "put") record = { ...write.record, ...added };
    else {
      const stored = findSuspension(write.invocationId) as StoredSuspension;
      const state = write.status === undefined ? {} : { frames: [], completed_positions: [] };
      record = patchSuspension({ ...stored, ...state }, write, added);
    }
    removeSuspension(record.invocation_id);
    (isOpen(record) ? open : ended).set(record.invocation_id, Object.freeze(record));
    if (record.status === "suspended") suspendedCount++;
    for (const oldest of ended.keys()) {
      if (ended.size <= limits.maxEnded) break;
      ended.delete(oldest);
    }
    return { revision: added.revision };
  };

  const checkRun = (write: RunWrite): void => {
    if (write.kind === "end") return;
    checkRunAppend(write, runs.get(write.runId)?.entries.length ?? null);
    if (write.record !== undefined && runs.size >= limits.maxRuns) throw full("maxRuns");
  };
  const writeRun = (write: RunWrite): void => {
    if (write.kind === "end") return void runs.delete(write.runId);
    if (write.record !== undefined) runs.set(write.runId, { record: write.record, entries: [] });
    runs.get(write.runId)?.entries.push(...write.entries);
  };

  const demandOpen = () => {
    if (isClosed) throw new StoreError("store_closed", "the store is closed");
  };
  const commit = async (batch: StoreBatch): Promise<StoreReceipt> => {
    const { session, suspension, run, leases: proofs = [] } = batch;
    demandOpen();
    for (const proof of proofs) demandLease(proof);
    if (session !== undefined) checkSession(session);
    if (suspension !== undefined) checkSuspension(suspension);
    if (run !== undefined) checkRun(run);
    if (run !== undefined) writeRun(run);
    return {
      session: session && writeSession(session),
      suspension: suspension && writeSuspension(suspension),
    };
  };
  const read = async <T>(work: () => T): Promise<T> => {
    demandOpen();
    return work();
  };
  return {
    sessions: {
      load: (sessionId) => read(() => sessions.get(sessionId)?.at(-1) ?? null),
      save: async (write) => (await commit({ session: write })).session as SessionReceipt,
      delete: (sessionId) => read(() => void sessions.delete(sessionId)),
      history: (sessionId, limit) => read(() => (sessions.get(sessionId) ?? []).toReversed().slice(0, limit)),
      list: ({ updatedBefore } = {}) =>
        read(() =>
          [...sessions.values()]
            .reverse()
            .flatMap((states) => states.slice(-1))
            .filter((record) => updatedBefore === undefined || record.updated_at < updatedBefore)
            .map(sessionSummary),
        ),
    },
    suspensions: {
      load: (invocationId) => read(() => findSuspension(invocationId) ?? null),
      save: async (write) => (await commit({ suspension: write })).suspension as SuspensionReceipt,
      delete: (invocationId) => read(() => removeSuspension(invocationId)),
      list: (filter = {}) =>
        read(() => {
          const mayHaveEnded = filter.status !== "suspended" && filter.isDelivered !== false;
          return [...(mayHaveEnded ? ended.values() : []), ...open.values()]
            .filter((record) => matches(record, filter))
            .sort(bySuspension)
            .map(suspensionSummary);
        }),
    },
    runs: {
      load: (runId) =>
        read(() => {
          const run = runs.get(runId);
          return run === undefined ? null : { ...run.record, entries: [...run.entries] };
        }),
      list: ({ sessionId } = {}) =>
        read(() =>
          [...runs.values()]
            .filter(({ record }) => sessionId === undefined || record.session_id === sessionId)
            .map(({ record }) => runSummary(record)),
        ),
      delete: (runId) => read(() => void runs.delete(runId)),
    },
    leases,
    commit,
    async close() {
      isClosed = true;
      leases.close();
    },
  };
};
