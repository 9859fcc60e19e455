import { type GraphStore, type Lease, sessionLeaseKey } from "@harnesskit/graph";
import { HarnessError } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { type CopyCount, conflict } from "./copy-count.ts";
import { changesBetween, runDigest, sessionDigest, suspensionDigest } from "./digests.ts";

/** How long a conversation is kept from others by a copy that was killed, and how long one that is in use is waited for. */
const leaseMs = { ttlMs: 5000, waitMs: 8000 };
/** More than any store keeps. */
const allStates = 1_000_000;

const holding = async <T>(from: GraphStore, sessionId: string, work: () => Promise<T>): Promise<T> => {
  let lease: Lease;
  try {
    lease = await from.leases.acquire(sessionLeaseKey(sessionId), leaseMs);
  } catch (cause) {
    if (!HarnessError.isInstance(cause) || cause.code !== "lease_taken") throw cause;
    throw new CliError("copy_in_use", `the conversation ${sessionId} is in use`, {
      hint: "End the programs that use FROM, and copy again: what was copied stays.",
      cause,
    });
  }
  try {
    return await work();
  } finally {
    await lease.release();
  }
};

/** Copies a session with its history. Returns whether there was something to copy. */
const copySession = async (from: GraphStore, to: GraphStore, sessionId: string): Promise<boolean> => {
  const states = (await from.sessions.history(sessionId, allStates)).reverse();
  const last = states.at(-1);
  if (last === undefined) return false;
  const digests = await Promise.all(states.map(sessionDigest));
  const there = await to.sessions.load(sessionId);
  if (there !== null) {
    const found = await sessionDigest(there);
    if (found === digests.at(-1)) return false;
    // Behind a copy that was interrupted, an earlier state is there.
    if (!digests.includes(found)) throw conflict("the conversation", sessionId);
    await to.sessions.delete(sessionId);
  }
  let before: { readonly state: (typeof states)[number]["state"]; readonly version: number } | undefined;
  for (const { state, schema_version: schemaVersion } of states) {
    const { version } = await to.sessions.save({
      sessionId,
      schemaVersion,
      state,
      baseVersion: before?.version ?? null,
      changes: changesBetween(before?.state ?? {}, state),
      expectedVersion: before?.version ?? null,
    });
    before = { state, version };
  }
  return true;
};

export const copySessions = async (from: GraphStore, to: GraphStore): Promise<CopyCount> => {
  const all = await from.sessions.list();
  let copied = 0;
  // The one written first is first in TO as well.
  for (const { session_id: id } of all.reverse()) {
    if (await holding(from, id, () => copySession(from, to, id))) copied++;
  }
  return { total: all.length, copied };
};

export const copySuspensions = async (from: GraphStore, to: GraphStore): Promise<CopyCount> => {
  const all = await from.suspensions.list();
  let copied = 0;
  for (const { invocation_id: id } of all) {
    const record = await from.suspensions.load(id);
    if (record === null) continue;
    const there = await to.suspensions.load(id);
    if (there !== null) {
      if ((await suspensionDigest(there)) !== (await suspensionDigest(record)))
        throw conflict("the turn", id);
      continue;
    }
    const { revision: _, updated_at: __, ...put } = record;
    await to.suspensions.save({ kind: "put", record: put, expectedRevision: null });
    copied++;
  }
  return { total: all.length, copied };
};

/** Copies turns that have neither ended nor paused. */
export const copyRuns = async (from: GraphStore, to: GraphStore): Promise<CopyCount> => {
  const all = await from.runs.list();
  let copied = 0;
  for (const { run_id: runId } of all) {
    const run = await from.runs.load(runId);
    if (run === null) continue;
    const there = await to.runs.load(runId);
    if (there !== null) {
      if ((await runDigest(there)) !== (await runDigest(run))) throw conflict("the run", runId);
      continue;
    }
    const { entries, ...record } = run;
    await to.commit({ run: { kind: "append", runId, record, expectedEntries: 0, entries } });
    copied++;
  }
  return { total: all.length, copied };
};
