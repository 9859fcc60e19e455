import type { SessionSummary, SuspensionSummary } from "@harnesskit/protocol/chat";
import { type Clock, systemClock } from "@harnesskit/wire";
import type { GraphStore, StoreBatch, StoreReceipt } from "./graph-store.ts";
import { createMemoryLeases } from "./memory-leases.ts";
import type { SessionFilter, SessionReceipt, SessionWrite, StoredSession } from "./session-store.ts";
import { StoreError } from "./store-error.ts";
import { SuspensionIndex } from "./suspension-index.ts";
import type {
  StoredSuspension,
  SuspensionPatch,
  SuspensionPut,
  SuspensionReceipt,
  SuspensionWrite,
} from "./suspension-store.ts";

export interface MemoryStoreOptions {
  /** How many sessions it keeps at most; a write of another is refused with `store_full`. @default 100000 */
  readonly maxSessions?: number;
  /** How many states of each session it keeps, the current one among them; then the oldest go. @default 50 */
  readonly maxHistory?: number;
  /** How many suspensions may wait at once; another is refused with `store_full`. @default 100000 */
  readonly maxSuspensions?: number;
  /** How many suspensions that have ended and are delivered are remembered; then the oldest go. @default 10000 */
  readonly maxEnded?: number;
  /** Time. @default that of the system */
  readonly clock?: Clock;
}

const summaryOf = ({ state: _, ...summary }: StoredSession): SessionSummary => summary;

const suspensionSummaryOf = ({
  frames: _,
  completed_positions: __,
  ...summary
}: StoredSuspension): SuspensionSummary => summary;

/**
 * Sessions and suspensions in the memory of this process, for tests and for what need not survive it. States are kept as they
 * are, frozen and shared, so that a turn costs what is new in it.
 */
export const createMemoryStore = (options: MemoryStoreOptions = {}): GraphStore => {
  const { maxSessions = 100_000, maxSuspensions = 100_000, maxEnded = 10_000, clock = systemClock } = options;
  const maxHistory = options.maxHistory ?? 50;
  const sessions = new Map<string, StoredSession>();
  /** By session, the states before the current one, the oldest first. */
  const histories = new Map<string, StoredSession[]>();
  const suspensions = new SuspensionIndex();
  /** Ids of what has ended and is delivered, the oldest first. */
  const ended = new Set<string>();
  let lastNumber = 0;
  let isClosed = false;
  const nextNumber = () => ++lastNumber;
  const leases = createMemoryLeases(clock, nextNumber);
  const now = () => new Date(clock.now()).toISOString();
  const demandOpen = () => {
    if (isClosed) throw new StoreError("store_closed", "the store is closed");
  };

  const checkSession = ({ sessionId, expectedVersion }: SessionWrite): void => {
    const stored = sessions.get(sessionId)?.version ?? null;
    if (expectedVersion !== undefined && expectedVersion !== stored) {
      const message = `the session is at version ${stored}, not ${expectedVersion}`;
      throw new StoreError("session_write_conflict", message);
    }
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
  const writeSession = (write: SessionWrite): SessionReceipt => {
    const version = nextNumber();
    const time = now();
    const before = sessions.get(write.sessionId);
    if (before !== undefined) remember(before);
    // Put anew, so that the order of the map is that of the writes.
    sessions.delete(write.sessionId);
    const record: StoredSession = {
      session_id: write.sessionId,
      state: write.state,
      schema_version: write.schemaVersion,
      version,
      created_at: before?.created_at ?? time,
      updated_at: time,
    };
    sessions.set(write.sessionId, Object.freeze(record));
    return { version };
  };

  const conflict = (message: string) => new StoreError("suspension_conflict", message);
  const checkPut = ({ record, expectedRevision, isSignalUnique = false }: SuspensionPut): void => {
    const stored = suspensions.get(record.invocation_id);
    const revision = stored?.revision ?? null;
    if (expectedRevision !== undefined && expectedRevision !== revision) {
      throw conflict(`the suspension is at revision ${revision}, not ${expectedRevision}`);
    }
    if (stored !== undefined && stored.status !== "suspended") throw conflict("the invocation has ended");
    if (stored === undefined && suspensions.waitingCount >= maxSuspensions) {
      throw new StoreError("store_full", `maxSuspensions of ${maxSuspensions} is reached`);
    }
    if (!isSignalUnique) return;
    const wanted = record.descriptor.signal_id;
    if (suspensions.isTaken(wanted, record.invocation_id)) {
      throw new StoreError("signal_taken", `another invocation waits for ${wanted}`);
    }
  };
  const checkPatch = ({ invocationId, status, expectedRevision }: SuspensionPatch): void => {
    const stored = suspensions.get(invocationId);
    if (stored === undefined) throw conflict("no suspension has this id");
    if (expectedRevision !== undefined && expectedRevision !== stored.revision) {
      throw conflict(`the suspension is at revision ${stored.revision}, not ${expectedRevision}`);
    }
    if (status !== undefined && stored.status !== "suspended") throw conflict("the invocation has ended");
  };
  const keep = (record: StoredSuspension): SuspensionReceipt => {
    const { invocation_id: id, status, is_delivered: isDelivered } = record;
    suspensions.set(Object.freeze(record));
    if (status !== "suspended" && isDelivered) ended.add(id);
    for (const oldest of ended) {
      if (ended.size <= maxEnded) break;
      ended.delete(oldest);
      suspensions.delete(oldest);
    }
    return { revision: record.revision };
  };
  const writeSuspension = (write: SuspensionWrite): SuspensionReceipt => {
    const meta = { revision: nextNumber(), updated_at: now() };
    if (write.kind === "put") return keep({ ...write.record, ...meta });
    const stored = suspensions.get(write.invocationId) as StoredSuspension;
    return keep({
      ...stored,
      ...meta,
      ...(write.status === undefined ? {} : { status: write.status, frames: [], completed_positions: [] }),
      ...(write.signal === undefined ? {} : { signal: write.signal }),
      ...(write.result === undefined ? {} : { result: write.result }),
      ...(write.isDelivered === undefined ? {} : { is_delivered: write.isDelivered }),
    });
  };

  const commit = async ({ session, suspension, leases: proofs = [] }: StoreBatch): Promise<StoreReceipt> => {
    demandOpen();
    for (const proof of proofs) leases.demand(proof);
    if (session !== undefined) checkSession(session);
    if (suspension?.kind === "put") checkPut(suspension);
    if (suspension?.kind === "patch") checkPatch(suspension);
    return {
      ...(session === undefined ? {} : { session: writeSession(session) }),
      ...(suspension === undefined ? {} : { suspension: writeSuspension(suspension) }),
    };
  };

  return {
    sessions: {
      async load(sessionId) {
        demandOpen();
        return sessions.get(sessionId) ?? null;
      },
      save: async (write) => (await commit({ session: write })).session as SessionReceipt,
      async delete(sessionId) {
        demandOpen();
        sessions.delete(sessionId);
        histories.delete(sessionId);
      },
      async history(sessionId, limit) {
        demandOpen();
        const current = sessions.get(sessionId);
        if (current === undefined) return [];
        return [...(histories.get(sessionId) ?? []), current].reverse().slice(0, limit);
      },
      async list({ schemaVersion, updatedBefore }: SessionFilter = {}) {
        demandOpen();
        return [...sessions.values()]
          .reverse()
          .filter((record) => schemaVersion === undefined || record.schema_version === schemaVersion)
          .filter((record) => updatedBefore === undefined || record.updated_at < updatedBefore)
          .map(summaryOf);
      },
    },
    suspensions: {
      async load(invocationId) {
        demandOpen();
        return suspensions.get(invocationId) ?? null;
      },
      save: async (write) => (await commit({ suspension: write })).suspension as SuspensionReceipt,
      async delete(invocationId) {
        demandOpen();
        ended.delete(invocationId);
        suspensions.delete(invocationId);
      },
      async list(filter = {}) {
        demandOpen();
        return suspensions.list(filter).map(suspensionSummaryOf);
      },
    },
    leases: {
      async acquire(key, leaseOptions) {
        demandOpen();
        return leases.acquire(key, leaseOptions);
      },
    },
    commit,
    async close() {
      isClosed = true;
    },
  };
};
