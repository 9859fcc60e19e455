import {
  type CompiledGraph,
  createMemoryStore,
  GraphError,
  type GraphStore,
  type HeldLease,
  type SessionOptions,
  type StateOf,
  thrownMessage,
} from "@harnesskit/graph";
import type { ChatTurnOutcome, ErroredTurn, SignalDescriptor } from "@harnesskit/protocol/chat";
import {
  callSafely,
  checkNumber,
  InvalidArgumentError,
  randomUuid,
  systemClock,
  warnPlatform,
} from "@harnesskit/wire";
import type { ChatFields, ChatTurns } from "./chat-turns.ts";
import { Deliveries } from "./deliveries.ts";
import {
  ChatHarnessError,
  type ChatHarnessErrorCode,
  failureOf,
  hasCode,
  type OnError,
  RefusedSignal,
} from "./errors.ts";
import type { Signal } from "./find-pause.ts";
import { InterruptedTurns } from "./interrupted-turns.ts";
import { Lanes, laneOf } from "./lanes.ts";
import type {
  ChatCompaction,
  ChatHarnessLimits,
  CloseOptions,
  EngineOptions,
  GraphSource,
  RecoverOptions,
  TurnOptions,
} from "./options.ts";
import { type SignalOutcome, Signals } from "./signals.ts";
import { type TurnEngine, TurnRunner, type TurnStart } from "./turn-runner.ts";

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

/** How a compaction ended: with a summary, or null where nothing was said since the last one. */
export type CompactOutcome =
  | { readonly outcome: "completed"; readonly summary: ChatCompaction | null }
  | ErroredTurn;

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

/** Throws `invalid_argument` for a policy that needs leases with a store that has no leases. */
const demandPolicy = (policy: unknown, concurrency: SessionOptions["concurrency"] = "lease"): void => {
  if (policy === "forget" || concurrency === "lease") return;
  throw new InvalidArgumentError('interruptedTurns needs the session option concurrency: "lease"');
};

/** Turns in lanes, signals, recovery, and the end. */
export class HarnessCore<F extends ChatFields> {
  readonly graph: CompiledGraph<F>;
  readonly store: GraphStore;
  readonly onError: OnError;
  readonly deliveries: Deliveries;
  readonly #lanes: Lanes;
  readonly #runner: TurnRunner<F>;
  readonly #signals: Signals<F>;
  readonly #interrupted: InterruptedTurns<F>;
  readonly #turns: ChatTurns<F>;
  readonly #compaction: GraphSource<F>["compaction"];

  /** Throws a `GraphCompileError`, or `invalid_argument`. */
  constructor(options: EngineOptions<F>, limits: ChatHarnessLimits, turns: ChatTurns<F>) {
    const { clock = systemClock, session = {}, turnTimeoutMs, abandonAfterMs = 5_000 } = options;
    const { maxQueuedTurns, maxTurns } = limits;
    const { interruptedTurns: policy = "forget" } = options;
    demandPolicy(policy, session.concurrency);
    demandSource(options.graph);
    if (turnTimeoutMs !== undefined) checkNumber("turnTimeoutMs", turnTimeoutMs, { min: 0 });
    checkNumber("abandonAfterMs", abandonAfterMs, { min: 0 });
    const { onError: given = (cause, context) => warnPlatform("ChatHarnessWarning", { ...context, cause }) } =
      options;
    this.store = options.store ?? createMemoryStore({ clock });
    this.onError = (error, context) => callSafely(() => given(error, context));
    const createId = options.createId ?? randomUuid;
    const { store, onError } = this;
    this.deliveries = new Deliveries({ store, maxListeners: limits.maxListeners, onError });
    this.#lanes = new Lanes({ maxQueuedTurns, maxTurns, turnTimeoutMs, abandonAfterMs, clock });
    this.graph = options.graph.compile({
      ...options.compile,
      onError: options.compile?.onError ?? this.onError,
      store: this.store,
      session: { ...session, concurrency: session?.concurrency ?? "lease", autoSave: true },
      durability: policy === "forget" ? undefined : "node",
      createId,
      clock,
    });
    const report: TurnEngine<F>["report"] = (turn) =>
      callSafely(
        () => options.onTurn?.(turn),
        (cause) => this.onError(cause, { kind: "report_failed", message: "onTurn failed" }),
      );
    this.#runner = new TurnRunner({ ...options, graph: this.graph, createId, report }, turns);
    const { leaseTtlMs = 30_000, leaseWaitMs = 60_000 } = session;
    const { deliveries } = this;
    const shared = { store, clock, leaseTtlMs, leaseWaitMs, runner: this.#runner, deliveries };
    this.#interrupted = new InterruptedTurns({ ...shared, policy, onError });
    this.#signals = new Signals({
      ...shared,
      lanes: this.#lanes,
      giveUp: () => this.#interrupted.obstacle,
      maxPayloadBytes: limits.maxPayloadBytes,
      maxRememberedSignals: limits.maxRememberedSignals,
    });
    this.#turns = turns;
    this.#compaction = options.graph.compaction;
  }

  /** Runs work in the lane of a session, behind what a dead process has left of an answer there. */
  inLane<T>(sessionId: string, options: TurnOptions, work: (signal: AbortSignal) => Promise<T>) {
    return this.#lanes.run(laneOf(sessionId, ""), options, async (signal) => {
      await this.#settleAnswers(sessionId, signal);
      return work(signal);
    });
  }

  /** Resumes the turns of a session whose signal was accepted by a process that did not end them. */
  async #settleAnswers(sessionId: string, signal: AbortSignal): Promise<void> {
    try {
      const waiting = await this.store.suspensions.list({ sessionId, status: "suspended" });
      for (const record of waiting) {
        if (record.signal !== null) await this.#signals.recoverInLane(record, signal);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const message = `the answered turn of ${JSON.stringify(sessionId)} cannot be recovered`;
      const cause = RefusedSignal.isInstance(error) ? (error.cause ?? error) : error;
      this.onError(cause, { kind: "recovery_failed", message });
    }
  }

  /** Runs a turn, within its lane, after those of its session that other processes have left. */
  async start(turn: TurnStart<F>): Promise<ChatTurnOutcome> {
    const { sessionId, signal } = turn;
    if (!this.#interrupted.isWatching) return this.#runner.start(turn);
    let lease: HeldLease | undefined;
    const prepare = async () => {
      lease = await this.#interrupted.take(sessionId, signal).catch((cause: unknown) => {
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

  /** Has the graph make a summary of a session of which no turn runs or waits. Rejects with a `ChatHarnessError`. */
  async compact(sessionId: string, options: TurnOptions): Promise<CompactOutcome> {
    const compaction = this.#compaction;
    const refuse = (code: ChatHarnessErrorCode, why: string) =>
      new ChatHarnessError(code, `the conversation cannot be summarised: ${why}`);
    if (!compaction) throw refuse("compact_unsupported", "its graph makes no summaries");
    if (this.#lanes.isTaken(laneOf(sessionId, ""))) throw refuse("session_busy", "a turn of it runs");
    return this.inLane(sessionId, options, async (signal) => {
      try {
        if ((await this.graph.getState(sessionId)) === null) return { outcome: "completed", summary: null };
        const waiting = await this.store.suspensions.list({ sessionId, status: "suspended" });
        if (waiting.length > 0)
          throw refuse("session_suspended", "a turn of it waits for an answer, which comes first");
      } catch (error) {
        if (ChatHarnessError.isInstance(error)) throw error;
        const message = `the session cannot be read: ${thrownMessage(error)}`;
        return this.#turns.errored(failureOf("session_load_failed", message, error));
      }
      let summary: ChatCompaction | null = null;
      const completed = (state: StateOf<F>) => {
        summary = compaction.madeIn(state);
      };
      const { initial } = compaction;
      const path = () => undefined;
      const turn = await this.start({ sessionId, initial: () => initial, signal, options, path, completed });
      return turn.outcome === "errored" ? turn : { outcome: "completed", summary };
    });
  }

  /** Resumes what waits for a signal; a refusal is an errored turn. Rejects as the lanes do. */
  async resolve(signal: Signal, options: TurnOptions): Promise<SignalOutcome> {
    try {
      return await this.#signals.resolve(signal, options);
    } catch (error) {
      if (RefusedSignal.isInstance(error)) return this.#turns.errored(error.failure);
      throw error;
    }
  }

  /** What waits, in the order of the suspensions. Rejects as the store does. */
  async pending(filter: { readonly sessionId?: string }): Promise<PendingTurn[]> {
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
    const left = await this.#interrupted.left(sessionId);
    const tasks = [
      ...accepted.map((record) => [record.invocation_id, () => this.#signals.recover(record)] as const),
      ...left.map((turn) => [turn.runId, () => this.#recoverTurn(turn.sessionId)] as const),
    ];
    const queue = tasks.values();
    let failed = 0;
    const work = async () => {
      for (const [id, recover] of queue) {
        try {
          await recover();
        } catch (error) {
          failed++;
          const cause = RefusedSignal.isInstance(error) ? (error.cause ?? error) : error;
          this.onError(cause, { kind: "recovery_failed", message: `the turn ${id} cannot be recovered` });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxRecoveries, tasks.length) }, work));
    return { resumed_count: tasks.length - failed, failed_count: failed };
  }

  #recoverTurn(sessionId: string): Promise<void> {
    return this.inLane(sessionId, {}, async (signal) => {
      try {
        await (await this.#interrupted.take(sessionId, signal, 0)).release();
      } catch (cause) {
        // Another process runs a turn of the session, which settled this one first.
        if (!hasCode(cause, "lease_taken")) throw cause;
      }
    });
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
