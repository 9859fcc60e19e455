import {
  type Fields,
  GraphError,
  type GraphStore,
  type HeldLease,
  holdLease,
  invocationLeaseKey,
  type LeaseProof,
  type RunSummary,
  sessionLeaseKey,
} from "@harnesskit/graph";
import { type Clock, HarnessError } from "@harnesskit/wire";
import { hasCode, type OnError } from "./errors.ts";
import type { EngineOptions } from "./options.ts";
import type { EndedTurn } from "./signals.ts";
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

export interface InterruptedTurnsOptions<F extends Fields, Turn extends object> {
  readonly store: GraphStore;
  readonly clock: Clock;
  readonly policy: Exclude<EngineOptions<F>["interruptedTurns"], undefined>;
  readonly leaseTtlMs: number;
  readonly leaseWaitMs: number;
  readonly runner: TurnRunner<F, Turn>;
  readonly onEnd: (ended: EndedTurn<Turn>, isStored: boolean) => void;
  readonly onError: OnError;
}

/**
 * Finds the turns that other processes have begun and not ended, and retries or reports them. The lease of a session says that none of
 * its turns is running: who has it settles those that were left, before a turn of its own.
 */
export class InterruptedTurns<F extends Fields, Turn extends object> {
  readonly #options: InterruptedTurnsOptions<F, Turn>;

  constructor(options: InterruptedTurnsOptions<F, Turn>) {
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
      await this.#settleAll(await store.runs.list({ sessionId }), [lease.proof], signal);
      return lease;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  /** The runs that were left, of a session or of all, without those that a process runs now and those that a signal has resumed. */
  async left(sessionId: string | undefined): Promise<RunSummary[]> {
    const { store } = this.#options;
    if (!this.isWatching) return [];
    const runs = await store.runs.list(sessionId === undefined ? {} : { sessionId });
    const left: RunSummary[] = [];
    for (const run of runs) {
      // Those that a signal has resumed go on by their accepted signal.
      if (run.signal_payload === null && (await this.#isLeft(run))) left.push(run);
    }
    return left;
  }

  async #isLeft({ run_id: id }: RunSummary): Promise<boolean> {
    try {
      const lease = await this.#options.store.leases.acquire(invocationLeaseKey(id), { ttlMs: 1000 });
      await lease.release();
      return true;
    } catch (cause) {
      if (hasCode(cause, "lease_taken")) return false;
      throw cause;
    }
  }

  /** Settles a run of no session. */
  settleAlone(run: RunSummary, signal: AbortSignal): Promise<void> {
    return this.#settleAll([run], [], signal);
  }

  async #settleAll(
    runs: readonly RunSummary[],
    leases: readonly LeaseProof[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const run of runs) {
      if (run.signal_payload === null) await this.#settle(run, leases, signal);
    }
  }

  async #settle(run: RunSummary, leases: readonly LeaseProof[], signal: AbortSignal): Promise<void> {
    const { store, clock, leaseTtlMs: ttlMs, leaseWaitMs } = this.#options;
    // Who holds the session waits for the lease of the run: its holder can write no more, and has died or stops.
    const waitMs = leases.length > 0 ? leaseWaitMs : 0;
    const key = invocationLeaseKey(run.run_id);
    let own: HeldLease;
    try {
      own = await holdLease(store.leases, key, { ttlMs, waitMs, signal }, clock);
    } catch (cause) {
      if (hasCode(cause, "lease_taken") && leases.length === 0) return;
      throw cause;
    }
    try {
      await this.#recover(run, [...leases, own.proof], signal);
    } finally {
      await own.release();
    }
  }

  async #recover(run: RunSummary, leases: readonly LeaseProof[], signal: AbortSignal): Promise<void> {
    const { runner, store, onEnd, onError } = this.#options;
    const { run_id: runId, session_id: sessionId } = run;
    const recover = (giveUp: Error | undefined) =>
      runner.recover({ runId, sessionId, leases, giveUp, signal });
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
    onEnd({ ...ended, sessionId }, true);
  }
}
