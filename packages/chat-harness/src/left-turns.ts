import {
  GraphError,
  type HeldLease,
  hasCode,
  holdLease,
  invocationLeaseKey,
  type RunFilter,
  sessionLeaseKey,
  thrownMessage,
} from "@harnesskit/graph";
import { RefusedSignal } from "./errors.ts";
import { laneOf } from "./lanes.ts";
import type { ChatFields } from "./messages-field.ts";
import type { TurnOptions } from "./options.ts";
import type { RecoverySummary } from "./outcomes.ts";
import type { Signals } from "./signals.ts";
import type { TurnContext } from "./turn-context.ts";
import { type PartEnd, TurnInterrupted, type TurnRunner, type TurnStart } from "./turn-runner.ts";

/** True for a run of another version of the graph, and for one whose end is larger than the storage takes: no retry ends it. */
const cannotGoOn = (cause: unknown): boolean =>
  GraphError.isInstance(cause) && (cause.code === "run_record_invalid" || hasCode(cause.cause, "store_full"));

/** How many turns are recovered at once. */
const maxRecoveries = 16;

/**
 * What earlier processes have left in sessions: turns whose signal was accepted and not applied, and, unless they are forgotten, turns that
 * were begun and not ended. The lease of a session says that none of its turns is running: who has it settles those that were
 * left, before a turn of its own.
 */
export class LeftTurns<F extends ChatFields> {
  readonly #context: TurnContext<F>;
  readonly #runner: TurnRunner<F>;
  readonly #signals: Signals<F>;

  constructor(context: TurnContext<F>, runner: TurnRunner<F>, signals: Signals<F>) {
    this.#context = context;
    this.#runner = runner;
    this.#signals = signals;
  }

  get #isWatching(): boolean {
    return this.#context.policy !== "forget";
  }

  /** Reports what a recovery failed with; in place of the refusal of a signal, why it was refused. */
  #reportFailure(error: unknown, message: string): void {
    const cause = RefusedSignal.isInstance(error) ? (error.cause ?? error) : error;
    this.#context.onError(cause, { kind: "recovery_failed", message });
  }

  /** Runs work in the lane of a session, behind the answered turns that were left there. */
  inLane<T>(sessionId: string, options: TurnOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { lanes, store } = this.#context;
    return lanes.run(laneOf(sessionId, ""), options, async (signal) => {
      try {
        for (const record of await store.suspensions.list({ sessionId, status: "suspended" })) {
          if (record.signal !== null) await this.#signals.recoverInLane(record, signal);
        }
      } catch (error) {
        if (signal.aborted) throw error;
        this.#reportFailure(error, `the answered turn of ${JSON.stringify(sessionId)} cannot be recovered`);
      }
      return work(signal);
    });
  }

  /** Runs a turn, within its lane, behind those that were begun in its session and not ended. */
  async start(turn: TurnStart<F>): Promise<PartEnd<F>> {
    const { sessionId, signal } = turn;
    if (!this.#isWatching) return this.#runner.start(turn);
    let lease: HeldLease | undefined;
    const prepare = async () => {
      lease = await this.#take(sessionId, signal).catch((cause: unknown) => {
        if (signal.aborted || GraphError.isInstance(cause)) throw cause;
        const code = hasCode(cause, "lease_taken") ? "session_write_conflict" : "session_load_failed";
        throw new GraphError(code, `the session cannot be taken: ${thrownMessage(cause)}`, { cause });
      });
      return [lease.proof];
    };
    try {
      return await this.#runner.start({ ...turn, prepare });
    } finally {
      await lease?.release();
    }
  }

  /** Goes on with what was left, in a session or in all; each failure is reported. Rejects as the store does. */
  async recover(sessionId: string | undefined): Promise<Omit<RecoverySummary, "delivered_count">> {
    const { store } = this.#context;
    const waiting = await store.suspensions.list({ sessionId, status: "suspended" });
    const answered = waiting.filter(({ signal }) => signal !== null);
    const tasks = [
      ...answered.map((record) => [record.invocation_id, () => this.#signals.recover(record)] as const),
      ...(await this.#begun({ sessionId })),
    ];
    const queue = tasks.values();
    let [resumed_count, failed_count] = [0, 0];
    const work = async () => {
      for (const [id, recover] of queue) {
        try {
          if ((await recover()) !== false) resumed_count++;
        } catch (error) {
          failed_count++;
          this.#reportFailure(error, `the turn ${id} cannot be recovered`);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxRecoveries, tasks.length) }, work));
    return { resumed_count, failed_count };
  }

  /**
   * The turns that were begun and not ended, with what settles each, without those that a process runs now and those that a signal
   * has resumed: they go on by their accepted signal. A run without a session is not of a conversation.
   */
  async #begun(filter: RunFilter): Promise<(readonly [string, () => Promise<boolean>])[]> {
    const { leases, runs } = this.#context.store;
    const begun: (readonly [string, () => Promise<boolean>])[] = [];
    for (const { run_id, session_id, signal_payload } of this.#isWatching ? await runs.list(filter) : []) {
      if (session_id === null || signal_payload !== null) continue;
      const isFree = await ifFree(async () =>
        (await leases.acquire(invocationLeaseKey(run_id), { ttlMs: 1000 })).release(),
      );
      if (!isFree) continue;
      // Another process that runs a turn of the session settles it first; one that has died still has the session for a moment.
      const settle = (signal: AbortSignal) =>
        ifFree(async () => (await this.#take(session_id, signal, 0)).release());
      begun.push([run_id, () => this.inLane(session_id, {}, settle)]);
    }
    return begun;
  }

  /** Takes a session for a turn, and settles what was left in it. Rejects as the store does, and with `lease_taken`. */
  async #take(
    sessionId: string,
    signal: AbortSignal,
    waitMs = this.#context.lease.waitMs,
  ): Promise<HeldLease> {
    const { store, clock, lease } = this.#context;
    const key = sessionLeaseKey(sessionId);
    const session = await holdLease(store.leases, key, { ...lease, waitMs, signal }, clock);
    try {
      for (const { run_id, signal_payload } of await store.runs.list({ sessionId })) {
        if (signal_payload !== null) continue;
        // Waits for the lease of the run: its holder can write no more without the session, and has died or stops.
        const own = await holdLease(store.leases, invocationLeaseKey(run_id), { ...lease, signal }, clock);
        try {
          await this.#settle(run_id, sessionId, [session, own], signal);
        } finally {
          await own.release();
        }
      }
      return session;
    } catch (error) {
      await session.release();
      throw error;
    }
  }

  async #settle(
    runId: string,
    sessionId: string,
    held: readonly HeldLease[],
    signal: AbortSignal,
  ): Promise<void> {
    const { store, deliveries } = this.#context;
    const leases = held.map(({ proof }) => proof);
    const recover = (giveUp: Error | undefined) =>
      this.#runner.recover(runId, sessionId, leases, giveUp, signal);
    const ended = await recover(this.#runner.obstacle).catch((cause: unknown) => {
      if (!cannotGoOn(cause) || signal.aborted) throw cause;
      this.#reportFailure(cause, `the turn ${runId} cannot be retried`);
      return recover(new TurnInterrupted({ cause }));
    });
    if (ended === undefined) return;
    if ((await store.runs.load(runId)) !== null) {
      // Nothing of the session goes on before it.
      const message = `the end of the turn ${runId} could not be stored: it is recovered again`;
      throw new GraphError("run_persistence_failed", message);
    }
    const { invocationId: invocation_id, turn } = ended;
    deliveries.deliver({ session_id: sessionId, invocation_id, turn });
  }
}

/** Whether a lease could be taken for this. */
const ifFree = (work: () => Promise<void>): Promise<boolean> =>
  work().then(
    () => true,
    (cause: unknown) => {
      if (hasCode(cause, "lease_taken")) return false;
      throw cause;
    },
  );
