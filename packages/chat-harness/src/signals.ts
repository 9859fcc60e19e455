import {
  type HeldLease,
  hasCode,
  holdLease,
  invocationLeaseKey,
  type StoredSuspension,
} from "@harnesskit/graph";
import type { ChatTurnOutcome, ErroredTurn, SuspensionSummary } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedSet, canonicalJson } from "@harnesskit/wire";
import { failureOf, RefusedSignal } from "./errors.ts";
import {
  findPause,
  readSignal,
  type Signal,
  storeFailed,
  unknownSignal,
  waitingSignals,
} from "./find-pause.ts";
import { copyObject } from "./inbound-message.ts";
import { laneOf } from "./lanes.ts";
import type { ChatFields } from "./messages-field.ts";
import type { TurnOptions } from "./options.ts";
import { traceApproval } from "./traced-approval.ts";
import type { TurnContext } from "./turn-context.ts";
import { pauseKeyOf, type Resumed, type TurnRunner } from "./turn-runner.ts";

/** The result of a signal that was not refused; see {@link SignalOutcome}. */
type SignalEffect =
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

/** A pause that is to be resumed, with its lane taken. */
interface Attempt {
  readonly pause: SuspensionSummary;
  /** Which of the signals that the pause waits for it is. */
  readonly signalId: string;
  /** Undefined: only a signal that was accepted before is resumed. */
  readonly payload: JsonObject | undefined;
  readonly options: TurnOptions;
  readonly signal: AbortSignal;
}

/** A pause whose signal is stored, under its lease. */
interface Accepted {
  readonly record: StoredSuspension;
  readonly payload: JsonObject;
  /** Of the record with the signal. */
  readonly revision: number;
  readonly lease: HeldLease;
}

const resolved = { outcome: "already_resolved" } as const;

/** A pause whose signal was accepted by a process that died. */
const acceptedBefore = (pause: SuspensionSummary) => {
  const { signal_id: signalId } = pause.descriptor;
  return { pause, signalId, payload: undefined, options: {} };
};

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
  readonly #context: TurnContext<F>;
  readonly #runner: TurnRunner<F>;
  /** Signal ids that were answered, each with its session and without. */
  readonly #answered: BoundedSet<string>;

  constructor(context: TurnContext<F>, runner: TurnRunner<F>) {
    this.#context = context;
    this.#runner = runner;
    this.#answered = new BoundedSet({ maxSize: 2 * context.limits.maxRememberedSignals });
  }

  /** Resumes the pause of a signal. Rejects as the lanes do, and with a {@link RefusedSignal}. */
  async resolve(given: Signal, options: TurnOptions): Promise<SignalEffect> {
    const { store, limits } = this.#context;
    const named = readSignal(given);
    const { value: payload, problem } = copyObject(named.payload ?? {}, "payload", limits.maxPayloadBytes);
    const refuse = (why: string) => new RefusedSignal(failureOf("suspension_resume_payload_invalid", why));
    if (problem !== undefined) throw refuse(problem);
    if (Object.hasOwn(payload, "messages"))
      throw refuse("payload.messages: a signal cannot replace the history of a conversation");
    const pause = await findPause(store, named, (id, sessionId) =>
      this.#answered.has(answeredKey(id, sessionId)),
    );
    if (pause === undefined) return resolved;
    const signalId = named.signalId ?? pause.descriptor.signal_id;
    return this.#inLane({ pause, signalId, payload, options });
  }

  /** Resumes a pause whose signal was accepted by a process that died. Rejects as {@link resolve} does. */
  recover(pause: SuspensionSummary): Promise<SignalEffect> {
    return this.#inLane(acceptedBefore(pause));
  }

  /** As {@link recover}, for a caller that has the lane. */
  recoverInLane(pause: SuspensionSummary, signal: AbortSignal): Promise<SignalEffect> {
    return this.#underLease({ ...acceptedBefore(pause), signal });
  }

  #inLane(attempt: Omit<Attempt, "signal">): Promise<SignalEffect> {
    const { pause, options } = attempt;
    const lane = laneOf(pause.session_id, pause.invocation_id);
    return this.#context.lanes.run(lane, options, (signal) => this.#underLease({ ...attempt, signal }));
  }

  async #underLease(attempt: Attempt): Promise<SignalEffect> {
    const { store, clock, lease: times } = this.#context;
    const { pause, signal } = attempt;
    try {
      const key = `signal:${pause.invocation_id}`;
      const lease = await holdLease(store.leases, key, { ...times, signal }, clock);
      try {
        return await this.#attempt(attempt, lease);
      } finally {
        await lease.release();
      }
    } catch (cause) {
      if (signal.aborted || RefusedSignal.isInstance(cause)) throw cause;
      if (hasCode(cause, "lease_taken")) return resolved;
      throw storeFailed(cause);
    }
  }

  async #attempt(attempt: Attempt, lease: HeldLease): Promise<SignalEffect> {
    const { pause, payload } = attempt;
    const { suspensions } = this.#context.store;
    for (;;) {
      const record = await suspensions.load(pause.invocation_id);
      if (record === null) throw unknownSignal();
      if (record.status !== "suspended" || !isSameQuestion(record, attempt)) return resolved;
      const { signal: earlier, revision } = record;
      if (earlier === null) {
        const stored = payload && (await this.#accept(record, payload, lease));
        return stored === undefined ? resolved : this.#resume(attempt, stored);
      }
      try {
        // A process has accepted a signal and died: that one came first.
        await this.#resume(attempt, { record, payload: earlier.payload, revision, lease });
        if (payload === undefined) return resolved;
      } catch (error) {
        if (!RefusedSignal.isInstance(error) || payload === undefined) throw error;
        const now = await suspensions.load(pause.invocation_id);
        if (now?.signal !== null || now.status !== "suspended") throw error;
      }
    }
  }

  /** Stores the signal; undefined if the record has changed. */
  async #accept(
    record: StoredSuspension,
    payload: JsonObject,
    lease: HeldLease,
  ): Promise<Accepted | undefined> {
    const { store, clock } = this.#context;
    try {
      const { revision } = await store.suspensions.save({
        kind: "patch",
        invocationId: record.invocation_id,
        signal: { payload, accepted_at: new Date(clock.now()).toISOString() },
        expectedRevision: record.revision,
      });
      traceApproval(record, payload, clock.now());
      return { record, payload, revision, lease };
    } catch (cause) {
      if (hasCode(cause, "suspension_conflict")) return undefined;
      throw cause;
    }
  }

  async #resume(attempt: Attempt, accepted: Accepted): Promise<SignalEffect> {
    const { invocation_id, session_id } = accepted.record;
    let resumed: Resumed<F>;
    try {
      resumed = await this.#run(attempt, accepted);
    } catch (error) {
      await this.#undoAccept(accepted);
      throw error;
    }
    if (!("turn" in resumed)) return resolved;
    const { kind, turn } = resumed;
    const end = kind === "failed" ? await this.#undoAccept(accepted) : "ended";
    if (end === "taken_over") return resolved;
    for (const id of [null, session_id]) this.#answered.add(answeredKey(attempt.signalId, id));
    if (turn.outcome !== "suspended" && session_id !== null && end === "ended")
      this.#context.deliveries.deliver({ session_id, invocation_id, turn });
    return { outcome: "resumed", invocation_id, session_id, turn };
  }

  /** Resumes the graph; if a process has died while it did so, once that one's lease has expired. */
  async #run(attempt: Attempt, { record, payload, revision, lease }: Accepted): Promise<Resumed<F>> {
    const { store, lease: times } = this.#context;
    const { signal } = attempt;
    const resume = () => this.#runner.resume(record, payload, lease.proof, attempt);
    const resumed = await resume();
    if (resumed.kind !== "being_resumed") return resumed;
    const id = record.invocation_id;
    try {
      await (await store.leases.acquire(invocationLeaseKey(id), { ...times, signal })).release();
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
  async #undoAccept({
    record: before,
    revision,
    lease,
  }: Accepted): Promise<"ended" | "taken_over" | "waiting"> {
    const { suspensions } = this.#context.store;
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
