import { type Fields, type HeldLease, holdLease, type StoredSuspension } from "@harnesskit/graph";
import type { SuspensionSummary } from "@harnesskit/protocol/chat";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { AnsweredSignals } from "./answered-signals.ts";
import {
  correlate,
  hasCode,
  refused,
  resolved,
  storeFailed,
  type Target,
  type Unresumed,
  unknownSignal,
} from "./correlate.ts";
import type { Engine, TurnOptions } from "./engine-options.ts";
import { failureOf } from "./failure.ts";
import { copyJsonObject } from "./inbound-message.ts";
import { laneOf } from "./lane-of.ts";
import { pauseKeyOf } from "./pause-note.ts";
import { readSignal, type Signal } from "./signal.ts";
import type { Resumed, TurnRunner } from "./turn-runner.ts";
import type { TurnShape } from "./turn-shape.ts";

/** A resumed turn that has ended. */
export interface EndedTurn<Turn> {
  readonly invocationId: string;
  readonly sessionId: string | null;
  readonly turn: Turn;
}

/** What became of a signal, before the harness puts it in its words. */
export type Resolution<Turn> =
  | { readonly kind: "resumed"; readonly record: Target; readonly turn: Turn }
  | Unresumed;

export interface SignalsOptions<F extends Fields, Turn extends object> {
  readonly engine: Engine<F>;
  readonly runner: TurnRunner<F, Turn>;
  readonly shape: TurnShape<F, Turn>;
  /**
   * Told of each resumed turn that has ended, in the order of the session. `isKept` is false for one whose end could not be
   * stored: it waits for a signal again.
   */
  readonly onEnd: (ended: EndedTurn<Turn>, isKept: boolean) => void;
}

/**
 * Finds what a signal is for and resumes it, once: in this process by the lane of the session, beside other processes by a
 * lease, and over a crash by the signal being stored before the run goes on.
 */
export class Signals<F extends Fields, Turn extends object> {
  readonly #engine: Engine<F>;
  readonly #runner: TurnRunner<F, Turn>;
  readonly #shape: TurnShape<F, Turn>;
  readonly #onEnd: SignalsOptions<F, Turn>["onEnd"];
  /** Signal ids that were answered. */
  readonly #answered: AnsweredSignals;

  constructor({ engine, runner, shape, onEnd }: SignalsOptions<F, Turn>) {
    this.#engine = engine;
    this.#runner = runner;
    this.#shape = shape;
    this.#onEnd = onEnd;
    this.#answered = new AnsweredSignals(engine.maxRememberedSignals);
  }

  /** Takes a signal. Rejects as the lanes do. */
  async resolve(given: Signal, options: TurnOptions): Promise<Resolution<Turn>> {
    const signal = readSignal(given);
    if (signal === undefined) return unknownSignal();
    const payload = this.#takePayload(signal.payload);
    if ("failure" in payload) return payload;
    const target = await correlate(this.#engine.store, this.#answered, signal);
    if ("kind" in target) return target;
    return this.#resumeInLane({ target, payload: payload.value, options, isRecovery: false });
  }

  /** Goes on with what a process had accepted a signal for when it died. Where that was taken back meanwhile, nothing is accepted. */
  async recover(record: SuspensionSummary): Promise<Resolution<Turn>> {
    return this.#resumeInLane({ target: record, payload: {}, options: {}, isRecovery: true });
  }

  #takePayload(payload: unknown): { readonly value: JsonObject } | ReturnType<typeof refused> {
    const { maxPayloadLength: maxLength } = this.#engine;
    const copied = copyJsonObject(payload, "payload", { maxLength });
    const problem = copied.problem ?? this.#shape.payloadProblem(copied.value);
    if (problem !== undefined) return refused(failureOf("suspension_resume_payload_invalid", problem));
    return copied as { readonly value: JsonObject };
  }

  #resumeInLane(asked: Asked): Promise<Resolution<Turn>> {
    const { target, options } = asked;
    const { lanes } = this.#engine;
    return lanes.run(laneOf(target.session_id, target.invocation_id), options, (signal) =>
      this.#resumeUnderLease(asked, signal),
    );
  }

  async #resumeUnderLease(asked: Asked, signal: AbortSignal): Promise<Resolution<Turn>> {
    const { target } = asked;
    const { store, leaseTtlMs: ttlMs, leaseWaitMs: waitMs, clock } = this.#engine;
    let lease: HeldLease;
    try {
      lease = await holdLease(
        store.leases,
        `signal:${target.invocation_id}`,
        { ttlMs, waitMs, signal },
        clock,
      );
    } catch (cause) {
      if (signal.aborted) throw cause;
      return hasCode(cause, "lease_taken") ? resolved : storeFailed(cause);
    }
    try {
      return await this.#resume({ ...asked, signal, lease });
    } catch (cause) {
      if (signal.aborted) throw cause;
      return storeFailed(cause);
    } finally {
      await lease.release();
    }
  }

  async #resume(work: Work): Promise<Resolution<Turn>> {
    const { target, payload, isRecovery } = work;
    const record = await this.#engine.store.suspensions.load(target.invocation_id);
    if (record === null) return unknownSignal();
    if (record.status !== "suspended" || pauseKeyOf(record) !== pauseKeyOf(target)) return resolved;
    if (record.signal === null) {
      if (isRecovery) return resolved;
      const revision = await this.#accept(record, payload);
      return revision === undefined ? resolved : this.#go(work, record, payload, revision);
    }
    // A process has accepted a signal for it and died: that one was first.
    const earlier = await this.#go(work, record, record.signal.payload, record.revision);
    if (earlier.kind !== "refused") return resolved;
    if (isRecovery) return earlier;
    const own = await this.#engine.store.suspensions.load(target.invocation_id);
    return own !== null && own.signal === null && own.status === "suspended" ? this.#resume(work) : earlier;
  }

  /** Stores the signal; gives the revision of the record with it, undefined where the record is not what it was. */
  async #accept(record: StoredSuspension, payload: JsonObject): Promise<number | undefined> {
    const { store, clock } = this.#engine;
    try {
      const { revision } = await store.suspensions.save({
        kind: "patch",
        invocationId: record.invocation_id,
        signal: { payload, accepted_at: new Date(clock.now()).toISOString() },
        expectedRevision: record.revision,
      });
      return revision;
    } catch (cause) {
      if (hasCode(cause, "suspension_conflict")) return undefined;
      throw cause;
    }
  }

  async #go(
    work: Work,
    record: StoredSuspension,
    payload: JsonObject,
    revision: number,
  ): Promise<Resolution<Turn>> {
    const resumed = await this.#run(work, record, payload, revision);
    if (resumed.kind === "already_resumed" || resumed.kind === "being_resumed") return resolved;
    const isOver = resumed.kind === "completed" || resumed.kind === "paused";
    const left = isOver ? "ended" : await this.#takeBack(record, revision, work.lease);
    if (resumed.kind === "refused") return resumed;
    if (left === "elsewhere") return resolved;
    const { invocation_id: invocationId, session_id: sessionId, descriptor } = record;
    this.#answered.add(descriptor.signal_id, sessionId);
    if (resumed.kind !== "paused")
      this.#onEnd({ invocationId, sessionId, turn: resumed.turn }, left === "ended");
    return { kind: "resumed", record, turn: resumed.turn };
  }

  /** Resumes; where a process has died over it, once its lease has run out. */
  async #run(
    { options, signal, lease }: Work,
    record: StoredSuspension,
    payload: JsonObject,
    revision: number,
  ): Promise<Resumed<Turn>> {
    const resume = () => this.#runner.resume({ record, payload, lease: lease.proof, signal, options });
    try {
      const resumed = await resume();
      const isAgain =
        resumed.kind === "being_resumed" && (await this.#waitForOther(record, revision, signal));
      return isAgain ? await resume() : resumed;
    } catch (error) {
      await this.#takeBack(record, revision, lease);
      throw error;
    }
  }

  /** Waits until nobody resumes an invocation any more. True where it waits as it did. */
  async #waitForOther(
    { invocation_id: id }: StoredSuspension,
    revision: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { store, leaseTtlMs: ttlMs, leaseWaitMs: waitMs } = this.#engine;
    try {
      const lease = await store.leases.acquire(`invocation:${id}`, { ttlMs, waitMs, signal });
      await lease.release();
    } catch (cause) {
      if (!signal.aborted && hasCode(cause, "lease_taken")) return false;
      throw cause;
    }
    return (await store.suspensions.load(id))?.revision === revision;
  }

  /**
   * Takes a signal back whose run did not begin, or has not ended as far as is stored. Gives `ended` where the failure of the
   * run was stored as the end, and `elsewhere` where this run has lost its leases and another one has taken it over. Another
   * revision with the same signal is that of a store that has undone a write.
   */
  async #takeBack(
    accepted: StoredSuspension,
    revision: number,
    lease: HeldLease,
  ): Promise<"ended" | "elsewhere" | "waiting"> {
    const { suspensions } = this.#engine.store;
    const invocationId = accepted.invocation_id;
    const save = (expectedRevision: number) =>
      suspensions.save({ kind: "patch", invocationId, signal: null, expectedRevision });
    try {
      // The signal of a run that has lost its leases may be that of the run that took it over.
      const isHeld = await lease.isHeld();
      if (isHeld) {
        await save(revision).catch((cause: unknown) => {
          if (!hasCode(cause, "suspension_conflict")) throw cause;
        });
      }
      const record = await suspensions.load(invocationId);
      if (record === null) return "waiting";
      if (record.status === "errored") return "ended";
      if (record.status === "completed" || pauseKeyOf(record) !== pauseKeyOf(accepted)) return "elsewhere";
      if (isHeld && record.signal !== null) await save(record.revision);
    } catch {
      // It stays accepted, and is gone on with by whoever recovers or signals next.
    }
    return "waiting";
  }
}

interface Asked {
  readonly target: Target;
  readonly payload: JsonObject;
  readonly options: TurnOptions;
  /** Goes on with the signal that is stored, and accepts none. */
  readonly isRecovery: boolean;
}

interface Work extends Asked {
  readonly signal: AbortSignal;
  readonly lease: HeldLease;
}
