import {
  GraphError,
  type GraphStore,
  type HeldLease,
  holdLease,
  invocationLeaseKey,
  type LeaseProof,
  sessionLeaseKey,
} from "@harnesskit/graph";
import { type Clock, HarnessError } from "@harnesskit/wire";
import type { ChatFields } from "./chat-turns.ts";
import type { Deliveries, ResumedTurn } from "./deliveries.ts";
import { hasCode, type OnError } from "./errors.ts";
import type { EngineOptions } from "./options.ts";
import type { TurnRunner } from "./turn-runner.ts";

/** A turn whose process died in the middle of it. */
class TurnInterrupted extends HarnessError {
  static override readonly brand = "TurnInterrupted";
  readonly category = "turn_interrupted";
  constructor(options?: { cause?: unknown }) {
    super(
      "turn_interrupted",
      "the process that ran this turn ended before it; the conversation is unchanged",
      options,
    );
  }
}

/** True for a run of another version of the graph, and for one whose end is larger than the storage takes: no retry ends it. */
const cannotGoOn = (cause: unknown): boolean =>
  GraphError.isInstance(cause) && (cause.code === "run_record_invalid" || hasCode(cause.cause, "store_full"));

/** A turn that a process began and did not end. */
export interface LeftTurn {
  readonly runId: string;
  readonly sessionId: string;
}

export interface InterruptedTurnsOptions<F extends ChatFields> {
  readonly store: GraphStore;
  readonly clock: Clock;
  readonly policy: Exclude<EngineOptions<F>["interruptedTurns"], undefined>;
  readonly leaseTtlMs: number;
  readonly leaseWaitMs: number;
  readonly runner: TurnRunner<F>;
  readonly deliveries: Deliveries;
  readonly onError: OnError;
}

/**
 * Finds the turns that other processes have begun and not ended, and retries or reports them. The lease of a session says that none of
 * its turns is running: who has it settles those that were left, before a turn of its own.
 */
export class InterruptedTurns<F extends ChatFields> {
  readonly #options: InterruptedTurnsOptions<F>;

  constructor(options: InterruptedTurnsOptions<F>) {
    this.#options = options;
  }

  get isWatching(): boolean {
    return this.#options.policy !== "forget";
  }

  /** With `report`: what ends a turn in place of going on. */
  get obstacle(): Error | undefined {
    return this.#options.policy === "report" ? new TurnInterrupted() : undefined;
  }

  /** Takes a session for a turn, and settles what was left in it. Rejects as the store does, and with `lease_taken`. */
  async take(sessionId: string, signal: AbortSignal, waitMs = this.#options.leaseWaitMs): Promise<HeldLease> {
    const { store, clock, leaseTtlMs: ttlMs } = this.#options;
    const key = sessionLeaseKey(sessionId);
    const lease = await holdLease(store.leases, key, { ttlMs, waitMs, signal }, clock);
    try {
      for (const run of await store.runs.list({ sessionId })) {
        if (run.signal_payload === null) await this.#settle(run.run_id, sessionId, lease.proof, signal);
      }
      return lease;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  /**
   * The turns that were left, of a session or of all, without those that a process runs now and those that a signal has resumed.
   * A run without a session is not of a conversation.
   */
  async left(sessionId: string | undefined): Promise<LeftTurn[]> {
    const { store } = this.#options;
    if (!this.isWatching) return [];
    const runs = await store.runs.list(sessionId === undefined ? {} : { sessionId });
    const left: LeftTurn[] = [];
    for (const { run_id: runId, session_id, signal_payload } of runs) {
      // Those that a signal has resumed go on by their accepted signal.
      if (session_id === null || signal_payload !== null) continue;
      if (await this.#isLeft(runId)) left.push({ runId, sessionId: session_id });
    }
    return left;
  }

  async #isLeft(runId: string): Promise<boolean> {
    try {
      const lease = await this.#options.store.leases.acquire(invocationLeaseKey(runId), { ttlMs: 1000 });
      await lease.release();
      return true;
    } catch (cause) {
      if (hasCode(cause, "lease_taken")) return false;
      throw cause;
    }
  }

  async #settle(runId: string, sessionId: string, session: LeaseProof, signal: AbortSignal): Promise<void> {
    const { store, clock, leaseTtlMs: ttlMs, leaseWaitMs: waitMs } = this.#options;
    // Waits for the lease of the run: its holder can write no more without the session, and has died or stops.
    const own = await holdLease(store.leases, invocationLeaseKey(runId), { ttlMs, waitMs, signal }, clock);
    try {
      await this.#recover({ runId, sessionId }, [session, own.proof], signal);
    } finally {
      await own.release();
    }
  }

  async #recover(turn: LeftTurn, leases: readonly LeaseProof[], signal: AbortSignal): Promise<void> {
    const { runner, store, deliveries, onError } = this.#options;
    const { runId, sessionId } = turn;
    const recover = (giveUp: Error | undefined) => runner.recover({ ...turn, leases, giveUp, signal });
    const ended = await recover(this.obstacle).catch((cause: unknown) => {
      if (!cannotGoOn(cause) || signal.aborted) throw cause;
      onError(cause, { kind: "recovery_failed", message: `the turn ${runId} cannot be retried` });
      return recover(new TurnInterrupted({ cause }));
    });
    if (ended === undefined) return;
    if ((await store.runs.load(runId)) !== null) {
      // Nothing of the session goes on before it.
      const message = `the end of the turn ${runId} could not be stored: it is recovered again`;
      throw new GraphError("run_persistence_failed", message);
    }
    const { invocationId: invocation_id, turn: end } = ended;
    deliveries.deliver({ session_id: sessionId, invocation_id, turn: end as ResumedTurn });
  }
}
