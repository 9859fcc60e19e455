import { HarnessError } from "@harnesskit/wire";
import type { GraphStore, StoreBatch, StoreReceipt } from "./graph-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { SessionStore } from "./session-store.ts";
import { StoreError } from "./store-error.ts";
import type { SuspensionStore } from "./suspension-store.ts";

export interface JoinedStores {
  readonly sessions: SessionStore;
  /** @default in the memory of this process */
  readonly suspensions?: SuspensionStore;
  /** @default in the memory of this process: runs in other processes are not waited for */
  readonly leases?: LeaseStore;
  /** Called once by `close`. */
  readonly close?: () => Promise<void>;
}

const failed = (cause: unknown): HarnessError =>
  HarnessError.isInstance(cause) ? cause : new StoreError("store_failed", "a store failed", { cause });

/**
 * Makes one store of two that know nothing of each other. A suspension is written first and taken back when its session
 * cannot be written; what that cannot cover is a process that dies between the two writes, so prefer a store that keeps
 * both. Leases that were lost are not noticed by writes.
 */
export const joinStores = ({ sessions, suspensions, leases, close }: JoinedStores): GraphStore => {
  const memory = createMemoryStore();
  const kept = suspensions ?? memory.suspensions;
  let isClosed = false;

  const takeBack = async (batch: StoreBatch, before: Awaited<ReturnType<SuspensionStore["load"]>>) => {
    const { suspension } = batch;
    if (suspension === undefined) return;
    const id = suspension.kind === "put" ? suspension.record.invocation_id : suspension.invocationId;
    await kept.delete(id);
    if (before === null) return;
    const { revision: _, updated_at: __, ...record } = before;
    await kept.save({ kind: "put", record });
  };
  const commit = async (batch: StoreBatch): Promise<StoreReceipt> => {
    const { session, suspension } = batch;
    if (suspension === undefined)
      return session === undefined ? {} : { session: await sessions.save(session) };
    if (session === undefined) return { suspension: await kept.save(suspension) };
    const id = suspension.kind === "put" ? suspension.record.invocation_id : suspension.invocationId;
    const before = await kept.load(id);
    const receipt = await kept.save(suspension);
    try {
      return { session: await sessions.save(session), suspension: receipt };
    } catch (error) {
      await takeBack(batch, before);
      throw failed(error);
    }
  };
  return {
    sessions,
    suspensions: kept,
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
