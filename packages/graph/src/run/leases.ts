import { HarnessError } from "@harnesskit/wire";
import { invalidRun } from "../durability/run-record.ts";
import { GraphError, type GraphErrorCode, thrownMessage } from "../errors.ts";
import { SessionBinding } from "../sessions/session-binding.ts";
import {
  type HeldLease,
  holdLease,
  invocationLeaseKey,
  type LeaseOptions,
  type LeaseProof,
  sessionLeaseKey,
} from "../stores/lease-store.ts";
import { cancelledBy } from "./abort-scope.ts";
import type { Host } from "./beginning.ts";

/** The leases that an invocation takes. */
export class Leases {
  readonly held: HeldLease[] = [];
  readonly #host: Host;
  readonly #given: readonly LeaseProof[];

  /** @param given those that the caller holds */
  constructor(host: Host, given: readonly LeaseProof[]) {
    this.#host = host;
    this.#given = given;
  }

  /** Takes a lease; rejects with what `refuse` makes of the store's error. */
  async take(
    key: string,
    options: Omit<LeaseOptions, "ttlMs">,
    refuse: (cause: unknown, isTaken: boolean) => GraphError,
  ): Promise<void> {
    const { store, sessions, clock } = this.#host;
    try {
      if (this.#given.some((proof) => proof.key === key)) return;
      if (this.held.some(({ proof }) => proof.key === key)) return;
      this.held.push(await holdLease(store.leases, key, { ttlMs: sessions.leaseTtlMs, ...options }, clock));
    } catch (cause) {
      throw refuse(cause, HarnessError.isInstance(cause) && cause.code === "lease_taken");
    }
  }

  async release(): Promise<void> {
    for (const lease of this.held.reverse()) await lease.release();
  }
}

/** Loads a session, under its lease if the graph asks for one. */
export const openSession = async (
  { keepsSessions, sessions, store }: Host,
  sessionId: string | null,
  leases: Leases,
  signal: AbortSignal | undefined,
): Promise<SessionBinding | undefined> => {
  if (sessionId === null || !keepsSessions) return undefined;
  if (sessions.concurrency === "lease") {
    const options = { waitMs: sessions.leaseWaitMs, signal };
    await leases.take(sessionLeaseKey(sessionId), options, (cause, isTaken) => {
      if (signal?.aborted) return cancelledBy(signal.reason);
      const code: GraphErrorCode = isTaken ? "session_write_conflict" : "session_load_failed";
      return new GraphError(code, `the session cannot be taken: ${thrownMessage(cause)}`, { cause });
    });
  }
  return SessionBinding.load(store, sessions, sessionId);
};

/** Takes the lease of a run whose progress is recorded. */
export const takeRun = (id: string, leases: Leases): Promise<void> =>
  leases.take(invocationLeaseKey(id), {}, (cause, isTaken) => {
    if (isTaken) return invalidRun("running", "another process runs this invocation", cause);
    const message = `the run cannot be taken: ${thrownMessage(cause)}`;
    return new GraphError("run_persistence_failed", message, { cause });
  });
