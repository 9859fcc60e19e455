import { type CompiledGraph, createMemoryStore, type Fields, type GraphStore } from "@harnesskit/graph";
import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import { callSafely, checkNumber, InvalidArgumentError, systemClock, warnPlatform } from "@harnesskit/wire";
import { type OnError, RefusedSignal } from "./errors.ts";
import type { Signal } from "./find-pause.ts";
import { Lanes, laneOf } from "./lanes.ts";
import type { CloseOptions, EngineOptions, HarnessLimits, RecoverOptions, TurnOptions } from "./options.ts";
import { type SignalEffect, Signals, type SignalsOptions } from "./signals.ts";
import { type TurnEngine, TurnRunner, type TurnShape, type TurnStart } from "./turn-runner.ts";

/** A turn that waits for a signal, whichever process has paused it. */
export interface PendingTurn {
  readonly invocation_id: string;
  /** Null if it has no session. */
  readonly session_id: string | null;
  readonly signal_descriptor: SignalDescriptor;
  /** RFC 3339, UTC. */
  readonly suspended_at: string;
  /** True if a signal was accepted and its run has not ended: it runs, or its process has died. */
  readonly is_signal_accepted: boolean;
}

/** The result of a recovery. */
export interface RecoverySummary {
  /** Turns that were resumed, here or by another process. */
  readonly resumed_count: number;
  /** Turns that could not be resumed; each is reported to `onError`, and waits for a signal again. */
  readonly failed_count: number;
  /** Ends of resumed turns that listeners have received. */
  readonly delivered_count: number;
}

/** How many turns are recovered at once. */
const maxRecoveries = 16;

/** Throws `invalid_argument` for anything but a declared graph, and says what to pass. */
const demandSource = (graph: unknown): void => {
  const given = (graph ?? {}) as { readonly compile?: unknown; readonly invoke?: unknown };
  if (typeof given.compile === "function") return;
  if (typeof given.invoke === "function") {
    const pass =
      "pass the result of defineGraph(…) without .compile(); the harness compiles it over its store";
    throw new InvalidArgumentError(`graph is compiled already: ${pass}`);
  }
  throw new InvalidArgumentError("graph must be the result of defineGraph(…)");
};

/** What all kinds of harnesses share: turns in lanes, signals, recovery, and the end. */
export class HarnessCore<F extends Fields, Turn extends object, Refusal extends Turn> {
  readonly graph: CompiledGraph<F>;
  readonly store: GraphStore;
  readonly onError: OnError;
  readonly createId: (prefix: string) => string;
  readonly #lanes: Lanes;
  readonly #runner: TurnRunner<F, Turn>;
  readonly #signals: Signals<F, Turn>;
  readonly #errored: TurnShape<F, Turn, Refusal>["errored"];

  /** Throws a `GraphCompileError`, or `invalid_argument`. */
  constructor(
    options: EngineOptions<F>,
    limits: HarnessLimits,
    shape: TurnShape<F, Turn, Refusal>,
    onEnd: SignalsOptions<F, Turn>["onEnd"],
  ) {
    const { clock = systemClock, session = {}, turnTimeoutMs, abandonAfterMs = 5_000 } = options;
    const { maxQueuedTurns, maxTurns } = limits;
    demandSource(options.graph);
    if (turnTimeoutMs !== undefined) checkNumber("turnTimeoutMs", turnTimeoutMs, { min: 0 });
    checkNumber("abandonAfterMs", abandonAfterMs, { min: 0 });
    const { onError = (cause, context) => warnPlatform("ChatHarnessWarning", { ...context, cause }) } =
      options;
    this.store = options.store ?? createMemoryStore({ clock });
    this.onError = (error, context) => callSafely(() => onError(error, context));
    this.createId = options.createId ?? (() => crypto.randomUUID());
    this.#lanes = new Lanes({ maxQueuedTurns, maxTurns, turnTimeoutMs, abandonAfterMs, clock });
    this.graph = options.graph.compile({
      ...options.compile,
      store: this.store,
      session: { concurrency: "lease", ...session, autoSave: true },
      createId: this.createId,
      clock,
    });
    const report: TurnEngine<F>["report"] = (turn) =>
      callSafely(
        () => options.onTurn?.(turn),
        (cause) => this.onError(cause, { kind: "report_failed", message: "onTurn failed" }),
      );
    const { graph, createId } = this;
    this.#runner = new TurnRunner({ ...options, graph, createId, report }, shape);
    this.#signals = new Signals({
      store: this.store,
      clock,
      lanes: this.#lanes,
      leaseTtlMs: session.leaseTtlMs ?? 30_000,
      leaseWaitMs: session.leaseWaitMs ?? 60_000,
      maxPayloadBytes: limits.maxPayloadBytes,
      maxRememberedSignals: limits.maxRememberedSignals,
      runner: this.#runner,
      shape,
      onEnd,
    });
    this.#errored = shape.errored;
  }

  /** Runs work in the lane of a session, or in one of its own. */
  inLane<T>(sessionId: string | null, options: TurnOptions, work: (signal: AbortSignal) => Promise<T>) {
    return this.#lanes.run(laneOf(sessionId, sessionId === null ? this.createId("inv") : ""), options, work);
  }

  /** Runs a turn, within its lane. */
  start(turn: TurnStart<F>): Promise<Turn> {
    return this.#runner.start(turn);
  }

  /** Resumes what waits for a signal; a refusal is an errored turn. Rejects as the lanes do. */
  async resolve(signal: Signal, options: TurnOptions): Promise<SignalEffect<Turn> | Refusal> {
    try {
      return await this.#signals.resolve(signal, options);
    } catch (error) {
      if (RefusedSignal.isInstance(error)) return this.#errored(error.failure);
      throw error;
    }
  }

  /** What waits, in the order of the suspensions. Rejects as the store does. */
  async pending(filter: { readonly sessionId?: string | null }): Promise<PendingTurn[]> {
    const records = await this.store.suspensions.list({ ...filter, status: "suspended" });
    return records.map((record) => ({
      invocation_id: record.invocation_id,
      session_id: record.session_id,
      signal_descriptor: record.descriptor,
      suspended_at: record.suspended_at,
      is_signal_accepted: record.signal !== null,
    }));
  }

  /** Resumes turns whose signal was accepted by a process that did not end them. Rejects as the store does. */
  async recover({ sessionId }: RecoverOptions = {}): Promise<Omit<RecoverySummary, "delivered_count">> {
    const filter = sessionId === undefined ? {} : { sessionId };
    const waiting = await this.store.suspensions.list({ ...filter, status: "suspended" });
    const accepted = waiting.filter((record) => record.signal !== null);
    const queue = accepted.values();
    let failed = 0;
    const work = async () => {
      for (const record of queue) {
        try {
          await this.#signals.recover(record);
        } catch (error) {
          failed++;
          const cause = RefusedSignal.isInstance(error) ? (error.cause ?? error) : error;
          const message = `the turn ${record.invocation_id} cannot be recovered`;
          this.onError(cause, { kind: "recovery_failed", message });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxRecoveries, accepted.length) }, work));
    return { resumed_count: accepted.length - failed, failed_count: failed };
  }

  /** Refuses further turns, and waits for those that run, then for their events. */
  async close({ timeoutMs }: CloseOptions = {}): Promise<void> {
    if (timeoutMs !== undefined) checkNumber("timeoutMs", timeoutMs, { min: 0 });
    this.#lanes.close();
    try {
      await this.#lanes.idle(timeoutMs);
    } finally {
      await this.graph.drain(timeoutMs === undefined ? {} : { timeoutMs });
    }
  }
}
