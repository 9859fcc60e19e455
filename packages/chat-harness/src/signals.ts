import { type GraphStore, type HeldLease, holdLease, type StoredSuspension } from "@harnesskit/graph";
import type { ChatTurnOutcome, ErroredTurn } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedSet, type Clock, canonicalJson } from "@harnesskit/wire";
import type { ChatFields } from "./chat-turns.ts";
import type { Deliveries, ResumedTurn } from "./deliveries.ts";
import { failureOf, hasCode, RefusedSignal } from "./errors.ts";
import {
  findPause,
  type PauseSummary,
  readSignal,
  type Signal,
  storeFailed,
  unknownSignal,
  waitingSignals,
} from "./find-pause.ts";
import { copyObject } from "./inbound-message.ts";
import { type Lanes, laneOf } from "./lanes.ts";
import type { ChatHarnessLimits, TurnOptions } from "./options.ts";
import { traceApproval } from "./traced-approval.ts";
import { pauseKeyOf, type Resumed, type TurnRunner } from "./turn-runner.ts";

/** The result of a signal that was not refused; see {@link SignalOutcome}. */
export type SignalEffect =
  | {
      readonly outcome: "resumed";
      readonly invocation_id: string;
      readonly session_id: string | null;
      readonly turn: ChatTurnOutcome;
    }
  | { readonly outcome: "already_resolved" };

/**
 * The result of a signal. `resumed`: the turn continued, and ended or paused again. `already_resolved`: another delivery of it, or
 * another signal, has resumed or is resuming the suspension. `errored`: nothing has run, and the pause still waits.
 */
export type SignalOutcome = SignalEffect | ErroredTurn;

export interface SignalsOptions<F extends ChatFields>
  extends Pick<ChatHarnessLimits, "maxPayloadBytes" | "maxRememberedSignals"> {
  readonly store: GraphStore;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly leaseTtlMs: number;
  readonly leaseWaitMs: number;
  readonly runner: TurnRunner<F>;
  /** What ends a resumed turn that an earlier process has begun; undefined: it goes on. */
  readonly giveUp: () => Error | undefined;
  /** Where each resumed turn goes that has ended, in the order of the session. */
  readonly deliveries: Deliveries;
}

/** A pause that is to be resumed, with its lane taken and under its lease. */
interface Attempt {
  readonly pause: PauseSummary;
  /** Which of the signals that the pause waits for it is. */
  readonly signalId: string;
  /** Undefined: only a signal that was accepted before is resumed. */
  readonly payload: JsonObject | undefined;
  readonly options: TurnOptions;
  readonly signal: AbortSignal;
  readonly lease: HeldLease;
}

/** A pause whose signal is stored. */
interface Accepted {
  readonly record: StoredSuspension;
  readonly payload: JsonObject;
  /** Of the record with the signal. */
  readonly revision: number;
}

const resolved = { outcome: "already_resolved" } as const;

/** Why the payload of a signal is refused; undefined if it is not. */
const payloadProblem = (payload: JsonObject): string | undefined =>
  Object.hasOwn(payload, "messages")
    ? "payload.messages: a signal cannot replace the history of a conversation"
    : undefined;

/** Whether a record waits as it did for the signal: at the same pause, or with the same question when only another one was answered since. */
const isSameQuestion = (record: StoredSuspension, { pause, signalId, payload }: Attempt): boolean => {
  if (pauseKeyOf(record) === pauseKeyOf(pause)) return true;
  const before = waitingSignals(pause.descriptor);
  const now = waitingSignals(record.descriptor);
  if (payload === undefined || before.size < 2 || !now.has(signalId)) return false;
  return canonicalJson(before.get(signalId)) === canonicalJson(now.get(signalId));
};

const answeredKey = (signalId: string, sessionId: string | null | undefined): string =>
  JSON.stringify([signalId, sessionId ?? null]);

/**
 * Finds the pause of a signal and resumes it, once: in this process by the lane of the session, between processes by a lease, and
 * over a crash because the signal is stored before the run continues.
 */
export class Signals<F extends ChatFields> {
  readonly #options: SignalsOptions<F>;
  /** Signal ids that were answered, each with its session and without. */
  readonly #answered: BoundedSet<string>;

  constructor(options: SignalsOptions<F>) {
    this.#options = options;
    this.#answered = new BoundedSet({ maxSize: 2 * options.maxRememberedSignals });
  }

  /** Resumes the pause of a signal. Rejects as the lanes do, and with a {@link RefusedSignal}. */
  async resolve(given: Signal, options: TurnOptions): Promise<SignalEffect> {
    const { store, maxPayloadBytes } = this.#options;
    const signal = readSignal(given);
    const { value: payload, problem } = copyObject(signal.payload ?? {}, "payload", maxPayloadBytes);
    const refusal = problem ?? payloadProblem(payload as JsonObject);
    if (refusal !== undefined)
      throw new RefusedSignal(failureOf("suspension_resume_payload_invalid", refusal));
    const pause = await findPause(store, signal, (id, sessionId) =>
      this.#answered.has(answeredKey(id, sessionId)),
    );
    if (pause === undefined) return resolved;
    return this.#resumeInLane(pause, payload, options, signal.signalId ?? undefined);
  }

  /** Resumes a pause whose signal was accepted by a process that died. Rejects as {@link resolve} does. */
  recover(pause: PauseSummary): Promise<SignalEffect> {
    return this.#resumeInLane(pause, undefined, {});
  }

  /** As {@link recover}, for a caller that has the lane. */
  recoverInLane(pause: PauseSummary, signal: AbortSignal): Promise<SignalEffect> {
    return this.#resumeWithLease(pause, undefined, {}, signal);
  }

  #resumeInLane(
    pause: PauseSummary,
    payload: JsonObject | undefined,
    options: TurnOptions,
    signalId?: string,
  ): Promise<SignalEffect> {
    const lane = laneOf(pause.session_id, pause.invocation_id);
    return this.#options.lanes.run(lane, options, (signal) =>
      this.#resumeWithLease(pause, payload, options, signal, signalId),
    );
  }

  async #resumeWithLease(
    pause: PauseSummary,
    payload: JsonObject | undefined,
    options: TurnOptions,
    signal: AbortSignal,
    signalId = pause.descriptor.signal_id,
  ): Promise<SignalEffect> {
    const { store, clock, leaseTtlMs: ttlMs, leaseWaitMs: waitMs } = this.#options;
    try {
      const key = `signal:${pause.invocation_id}`;
      const lease = await holdLease(store.leases, key, { ttlMs, waitMs, signal }, clock);
      try {
        return await this.#attempt({ pause, signalId, payload, options, signal, lease });
      } finally {
        await lease.release();
      }
    } catch (cause) {
      if (signal.aborted || RefusedSignal.isInstance(cause)) throw cause;
      if (hasCode(cause, "lease_taken")) return resolved;
      throw storeFailed(cause);
    }
  }

  async #attempt(attempt: Attempt): Promise<SignalEffect> {
    const { pause, payload } = attempt;
    for (;;) {
      const record = await this.#options.store.suspensions.load(pause.invocation_id);
      if (record === null) throw unknownSignal();
      if (record.status !== "suspended" || !isSameQuestion(record, attempt)) return resolved;
      const { signal: earlier, revision } = record;
      if (earlier === null) {
        const accepted = payload && (await this.#accept(record, payload));
        return accepted === undefined ? resolved : this.#resume(attempt, accepted);
      }
      try {
        // A process has accepted a signal and died: that one came first.
        await this.#resume(attempt, { record, payload: earlier.payload, revision });
        if (payload === undefined) return resolved;
      } catch (error) {
        const isOpen = RefusedSignal.isInstance(error) && payload !== undefined;
        if (!isOpen || !(await this.#isUnsignalled(pause))) throw error;
      }
    }
  }

  async #isUnsignalled({ invocation_id: id }: PauseSummary): Promise<boolean> {
    const record = await this.#options.store.suspensions.load(id);
    return record !== null && record.signal === null && record.status === "suspended";
  }

  /** Stores the signal; undefined if the record has changed. */
  async #accept(record: StoredSuspension, payload: JsonObject): Promise<Accepted | undefined> {
    const { store, clock } = this.#options;
    try {
      const { revision } = await store.suspensions.save({
        kind: "patch",
        invocationId: record.invocation_id,
        signal: { payload, accepted_at: new Date(clock.now()).toISOString() },
        expectedRevision: record.revision,
      });
      traceApproval(record, payload, clock.now());
      return { record, payload, revision };
    } catch (cause) {
      if (hasCode(cause, "suspension_conflict")) return undefined;
      throw cause;
    }
  }

  async #resume(attempt: Attempt, accepted: Accepted): Promise<SignalEffect> {
    const { invocation_id, session_id } = accepted.record;
    let resumed: Resumed;
    try {
      resumed = await this.#run(attempt, accepted);
    } catch (error) {
      await this.#undoAccept(accepted, attempt.lease);
      throw error;
    }
    if (!("turn" in resumed)) return resolved;
    const { kind, turn } = resumed;
    const end = kind === "failed" ? await this.#undoAccept(accepted, attempt.lease) : "ended";
    if (end === "taken_over") return resolved;
    this.#answered.add(answeredKey(attempt.signalId, null));
    this.#answered.add(answeredKey(attempt.signalId, session_id));
    if (kind !== "paused" && session_id !== null) {
      const delivery = { session_id, invocation_id, turn: turn as ResumedTurn };
      if (end === "ended") this.#options.deliveries.deliver(delivery);
      else this.#options.deliveries.announce(delivery);
    }
    return { outcome: "resumed", invocation_id, session_id, turn };
  }

  /** Resumes the graph; if a process has died while it did so, once that one's lease has expired. */
  async #run(attempt: Attempt, { record, payload, revision }: Accepted): Promise<Resumed> {
    const { store, runner, leaseTtlMs: ttlMs, leaseWaitMs: waitMs } = this.#options;
    const { options, signal, lease } = attempt;
    const giveUp = this.#options.giveUp();
    const resume = () => runner.resume({ record, payload, lease: lease.proof, giveUp, signal, options });
    const resumed = await resume();
    if (resumed.kind !== "being_resumed") return resumed;
    const id = record.invocation_id;
    try {
      const other = await store.leases.acquire(`invocation:${id}`, { ttlMs, waitMs, signal });
      await other.release();
    } catch (cause) {
      if (!signal.aborted && hasCode(cause, "lease_taken")) return resumed;
      throw cause;
    }
    const current = await store.suspensions.load(id);
    return current?.revision === revision ? resume() : resumed;
  }

  /**
   * Undoes the acceptance of a signal whose run did not begin, or whose end is not stored. Returns `ended` if the failure of the run
   * was stored as the end, `taken_over` if this run has lost its leases and another one has taken over, and `waiting` if the
   * pause waits for a signal again.
   */
  async #undoAccept(
    { record: before, revision }: Accepted,
    lease: HeldLease,
  ): Promise<"ended" | "taken_over" | "waiting"> {
    const { suspensions } = this.#options.store;
    const invocationId = before.invocation_id;
    try {
      // After the leases are lost, the signal may be that of the run that took over.
      if (await lease.isHeld()) {
        const undo = { kind: "patch", invocationId, signal: null, expectedRevision: revision } as const;
        await suspensions.save(undo).catch((cause: unknown) => {
          if (!hasCode(cause, "suspension_conflict")) throw cause;
        });
      }
      const record = await suspensions.load(invocationId);
      if (record === null) return "waiting";
      if (record.status === "errored") return "ended";
      if (record.status === "completed" || pauseKeyOf(record) !== pauseKeyOf(before)) return "taken_over";
    } catch {
      // The signal stays accepted, and the next signal or recovery resumes it.
    }
    return "waiting";
  }
}
