import { HarnessError } from "@harnesskit/wire";
import { type GraphStore, type StoreBatch, StoreError, type StoreReceipt } from "./graph-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { SessionStore } from "./session-store.ts";
import { type StoredSuspension, type SuspensionStore, suspensionIdOf } from "./suspension-store.ts";

export interface JoinedStores {
  readonly sessions: SessionStore;
  /** @default in the memory of this process */
  readonly suspensions?: SuspensionStore;
  /** @default in the memory of this process: runs in other processes are not waited for */
  readonly leases?: LeaseStore;
  /** Called once by `close`. */
  readonly close?: () => Promise<void>;
}

const asStoreError = (cause: unknown): HarnessError =>
  HarnessError.isInstance(cause) ? cause : new StoreError("store_failed", "a store failed", { cause });

/**
 * Joins independent stores. A suspension is written first and undone if its session cannot be written, which does not cover a
 * process that dies between the two writes: prefer a store that keeps both. Writes do not check leases. Runs are kept in the memory
 * of this process, which is why `durability: "node"` needs another store.
 */
export const joinStores = ({ sessions, suspensions, leases, close }: JoinedStores): GraphStore => {
  const memory = createMemoryStore();
  const kept = suspensions ?? memory.suspensions;
  let isClosed = false;

  const undo = async (id: string, before: StoredSuspension | null) => {
    await kept.delete(id);
    if (before === null) return;
    const { revision: _, updated_at: __, ...record } = before;
    await kept.save({ kind: "put", record });
  };
  const commit = async ({ run, ...batch }: StoreBatch): Promise<StoreReceipt> => {
    const receipt = await commitBoth(batch);
    if (run !== undefined) await memory.commit({ run });
    return receipt;
  };
  const commitBoth = async ({ session, suspension }: StoreBatch): Promise<StoreReceipt> => {
    if (suspension === undefined)
      return session === undefined ? {} : { session: await sessions.save(session) };
    if (session === undefined) return { suspension: await kept.save(suspension) };
    const id = suspensionIdOf(suspension);
    const before = await kept.load(id);
    const receipt = await kept.save(suspension);
    try {
      return { session: await sessions.save(session), suspension: receipt };
    } catch (error) {
      await undo(id, before);
      throw asStoreError(error);
    }
  };
  return {
    sessions,
    suspensions: kept,
    runs: memory.runs,
    leases: leases ?? memory.leases,
    commit,
    async close() {
      if (isClosed) return;
      isClosed = true;
      await memory.close();
      await close?.();
    },
  };
};
