import type { CompiledGraph, Fields, StartOptions } from "@harnesskit/graph";
import type { DispatchPath } from "@harnesskit/protocol/chat";
import { type CloseOptions, closeEngine } from "./close-engine.ts";
import { createEngine, type Engine, type EngineOptions, type TurnOptions } from "./engine-options.ts";
import { failureOf } from "./failure.ts";
import { createHarnessTurns, type ErroredHarnessTurn, type HarnessTurn } from "./harness-turns.ts";
import { laneOf } from "./lane-of.ts";
import { listPending, type PendingTurn } from "./pending.ts";
import { type RecoverySummary, recoverSignals } from "./recovery.ts";
import type { Signal, SignalResult } from "./signal.ts";
import { type EndedTurn, Signals } from "./signals.ts";
import { TurnRunner } from "./turn-runner.ts";
import { messageOf } from "./warning.ts";

export interface HarnessOptions<F extends Fields> extends EngineOptions<F> {
  /** `sessioned`: every turn belongs to a session. `stateless`: none does, and no session is loaded or saved. */
  readonly mode: "sessioned" | "stateless";
  /** Told of the ends of resumed turns, beside what `transmit` gives. What it throws is a warning. @default nobody is told */
  readonly onResumed?: (ended: EndedTurn<HarnessTurn<F>>) => void;
}

/** What arrives at a harness. Which way it takes is told from these fields alone. */
export interface Transmission<F extends Fields> {
  /** The session that it belongs to. */
  readonly sessionId?: string;
  /** Begins a session: under `sessionId`, or under a new id. @default false */
  readonly isNewSession?: boolean;
  /** Values to begin with, as in `invoke`. @default {} */
  readonly initial?: StartOptions<F>["initial"];
  /** Goes on with what waits for this signal; then there is nothing else. */
  readonly signal?: Signal;
}

/** What a transmission gives. */
export type TransmissionOutcome<F extends Fields> =
  | HarnessTurn<F>
  | Exclude<SignalResult<HarnessTurn<F>, ErroredHarnessTurn>, { outcome: "errored" }>;

/** Which way a transmission takes, or why that cannot be said. */
type Classified =
  | { readonly path: DispatchPath; readonly sessionId: string | null }
  | { readonly problem: string; readonly category: string };

const ambiguous = (problem: string): Classified => ({
  problem,
  category: "harness_path_classification_ambiguous",
});

const classify = <F extends Fields>(
  mode: HarnessOptions<F>["mode"],
  { sessionId, isNewSession = false, initial, signal }: Transmission<F>,
  createId: () => string,
): Classified => {
  if (signal !== undefined) {
    const isAlone = sessionId === undefined && !isNewSession && initial === undefined;
    if (isAlone) return { path: "signal_resume", sessionId: null };
    return ambiguous("a signal goes on with a turn, and cannot begin one");
  }
  if (mode === "stateless") {
    const isAlone = sessionId === undefined && !isNewSession;
    return isAlone
      ? { path: "stateless", sessionId: null }
      : ambiguous("a stateless harness has no sessions");
  }
  const id = sessionId ?? (isNewSession ? createId() : undefined);
  if (typeof id !== "string" || id === "") {
    return { problem: "the transmission names no session", category: "harness_session_id_unresolved" };
  }
  return { path: isNewSession ? "new_session" : "existing_session", sessionId: id };
};

/**
 * The harness below conversations, for those who build another kind: every transmission is one run of the graph, in a session or in
 * none, and a run that suspends is resumed by a signal. It knows nothing of messages.
 */
export class Harness<F extends Fields = Fields> {
  readonly #engine: Engine<F>;
  readonly #runner: TurnRunner<F, HarnessTurn<F>>;
  readonly #signals: Signals<F, HarnessTurn<F>>;
  readonly #mode: HarnessOptions<F>["mode"];

  /** @internal */
  constructor(options: HarnessOptions<F>) {
    this.#engine = createEngine(options);
    this.#mode = options.mode;
    const shape = createHarnessTurns<F>();
    this.#runner = new TurnRunner(this.#engine, shape);
    const onEnd = (ended: EndedTurn<HarnessTurn<F>>) => {
      try {
        options.onResumed?.(ended);
      } catch (cause) {
        this.#engine.warn({ kind: "report_failed", message: `onResumed threw: ${messageOf(cause)}`, cause });
      }
    };
    this.#signals = new Signals({ engine: this.#engine, runner: this.#runner, shape, onEnd });
  }

  /** The graph as it was compiled, for observers that are told of every turn. */
  get graph(): CompiledGraph<F> {
    return this.#engine.graph;
  }

  /**
   * Runs one turn, or goes on with one. Gives `completed`, `suspended` or `errored`; for a signal also `resumed` with the turn, or
   * `already_resolved`. Errors of a transmission itself are `harness_session_id_unresolved` and
   * `harness_path_classification_ambiguous`. Rejects with a `ChatHarnessError` where the turn cannot wait or was given up.
   */
  async transmit(transmission: Transmission<F>, options: TurnOptions = {}): Promise<TransmissionOutcome<F>> {
    const { createId, lanes } = this.#engine;
    const classified = classify(this.#mode, transmission, createId);
    if ("problem" in classified) return errored(classified.category, classified.problem);
    const { path, sessionId } = classified;
    if (transmission.signal !== undefined) return this.#resume(transmission.signal, options);
    const { initial } = transmission;
    return lanes.run(laneOf(sessionId, createId()), options, (signal) =>
      this.#runner.start({
        sessionId,
        ...(initial === undefined ? {} : { initial }),
        signal,
        options,
        path: () => path,
      }),
    );
  }

  async #resume(signal: Signal, options: TurnOptions): Promise<TransmissionOutcome<F>> {
    const resolution = await this.#signals.resolve(signal, options);
    if (resolution.kind === "refused") return createHarnessTurns<F>().errored(resolution.failure);
    if (resolution.kind === "already_resolved") return { outcome: "already_resolved" };
    const { invocation_id, session_id } = resolution.record;
    return { outcome: "resumed", invocation_id, session_id, turn: resolution.turn };
  }

  /** What waits for a signal, of a session (null: of none) or of all. Rejects with a `StoreError`. */
  pending(sessionId?: string | null): Promise<PendingTurn[]> {
    return listPending(this.#engine.store, sessionId === undefined ? {} : { sessionId });
  }

  /** Goes on with turns for which an earlier process had accepted a signal. Rejects with a `StoreError`. */
  recover(): Promise<Omit<RecoverySummary, "delivered_count">> {
    return recoverSignals(this.#engine, this.#signals);
  }

  /**
   * Refuses whatever comes and what waits (`harness_closed`), and settles when the turns that run have ended. What is still
   * running after `timeoutMs` is cancelled; rejects with `turn_abandoned` where it does not end then within `abandonAfterMs`.
   * The store stays open. Idempotent.
   */
  close(options: CloseOptions = {}): Promise<void> {
    return closeEngine(this.#engine, options);
  }
}

const errored = (category: string, diagnostic: string): ErroredHarnessTurn =>
  createHarnessTurns().errored(failureOf(category, diagnostic)) as ErroredHarnessTurn;

/** Makes a harness. Throws a `GraphCompileError` for a graph that does not compile, and `invalid_argument` for a wrong limit. */
export const createHarness = <F extends Fields>(options: HarnessOptions<F>): Harness<F> =>
  new Harness(options);
