import type { CompiledGraph, Fields, StartOptions, StateOf } from "@harnesskit/graph";
import type { DispatchPath, ErrorBucket, SignalDescriptor } from "@harnesskit/protocol/chat";
import { callSafely } from "@harnesskit/wire";
import { type Failure, failureOf } from "./errors.ts";
import type { Signal } from "./find-pause.ts";
import { HarnessCore, type PendingTurn, type RecoverySummary } from "./harness-core.ts";
import { checkHarnessOptions } from "./option-names.ts";
import {
  type CloseOptions,
  type EngineOptions,
  type HarnessLimits,
  harnessLimits,
  type RecoverOptions,
  type TurnOptions,
} from "./options.ts";
import type { EndedTurn, SignalEffect } from "./signals.ts";
import type { TurnShape } from "./turn-runner.ts";

interface TurnFacts<F extends Fields> {
  /** The path of the turn; absent if it failed before that was known. */
  readonly dispatch_path?: DispatchPath;
  readonly invocation_id: string;
  /** Null if it has no session. */
  readonly session_id: string | null;
  readonly state: StateOf<F>;
}

export interface CompletedHarnessTurn<F extends Fields> extends TurnFacts<F> {
  readonly outcome: "completed";
}

export interface SuspendedHarnessTurn<F extends Fields> extends TurnFacts<F> {
  readonly outcome: "suspended";
  readonly signal_descriptor: SignalDescriptor;
}

export interface ErroredHarnessTurn extends Pick<TurnFacts<Fields>, "dispatch_path"> {
  readonly outcome: "errored";
  readonly error_bucket: ErrorBucket;
  readonly error_category?: string | undefined;
  /** The message of the error. */
  readonly diagnostic: string;
  readonly error: unknown;
}

/** How a turn of any harness ended. */
export type HarnessTurn<F extends Fields> =
  | CompletedHarnessTurn<F>
  | SuspendedHarnessTurn<F>
  | ErroredHarnessTurn;

export interface HarnessOptions<F extends Fields> extends EngineOptions<F> {
  /** `sessioned`: every turn belongs to a session. `stateless`: none does, and no session is loaded or saved. */
  readonly mode: "sessioned" | "stateless";
  /** Receives the ends of resumed turns, which `transmit` also returns. @default no report */
  readonly onResumed?: ((ended: EndedTurn<HarnessTurn<F>>) => void) | undefined;
  /** See {@link HarnessLimits}. */
  readonly limits?: Partial<HarnessLimits> | undefined;
}

/** The input of a harness. These fields alone decide its path. */
export interface Transmission<F extends Fields> {
  readonly sessionId?: string;
  /** Begins a session: under `sessionId`, or under a new id. @default false */
  readonly isNewSession?: boolean;
  /** Initial values, as in `invoke`. @default {} */
  readonly initial?: StartOptions<F>["initial"];
  /** Resumes what waits for this signal; then the transmission has no other field. */
  readonly signal?: Signal;
}

/** The result of a transmission. */
export type TransmissionOutcome<F extends Fields> = HarnessTurn<F> | SignalEffect<HarnessTurn<F>>;

/** The path of a transmission, or why it cannot be classified. */
type Classified =
  | { readonly path: DispatchPath; readonly sessionId: string | null }
  | { readonly failure: Failure };

const ambiguous = (problem: string): Classified => ({
  failure: failureOf("harness_path_classification_ambiguous", problem),
});

const errored = ({ bucket, category, diagnostic, error }: Failure): ErroredHarnessTurn => ({
  outcome: "errored",
  error_bucket: bucket,
  error_category: category,
  diagnostic,
  error,
});

/** Turns that are the ends of invocations, unchanged. */
const createHarnessTurns = <F extends Fields>(): TurnShape<F, HarnessTurn<F>, ErroredHarnessTurn> => ({
  completed: ({ outcome, invocation_id, session_id, state }) => ({
    outcome,
    invocation_id,
    session_id,
    state,
  }),
  suspended: ({ outcome, invocation_id, session_id, state, descriptor: signal_descriptor }) => ({
    ...{ outcome, invocation_id, session_id, state },
    signal_descriptor,
  }),
  errored,
  memo: () => null,
  stored: () => undefined,
  payloadProblem: () => undefined,
});

/**
 * The harness below conversations, for other kinds of harnesses: every transmission is one run of the graph, with or without a
 * session, and a run that suspends is resumed by a signal. It knows nothing of messages.
 */
export class Harness<F extends Fields = Fields> {
  readonly #core: HarnessCore<F, HarnessTurn<F>, ErroredHarnessTurn>;
  readonly #mode: HarnessOptions<F>["mode"];

  /** @internal */
  constructor(options: HarnessOptions<F>) {
    const { mode, onResumed } = options;
    this.#mode = mode;
    const limits = harnessLimits.resolve(options.limits);
    this.#core = new HarnessCore(options, limits, createHarnessTurns<F>(), (ended) => {
      const failed = (cause: unknown) =>
        this.#core.onError(cause, { kind: "report_failed", message: "onResumed failed" });
      callSafely(() => onResumed?.(ended), failed);
    });
  }

  /** The compiled graph, for observers of every turn. */
  get graph(): CompiledGraph<F> {
    return this.#core.graph;
  }

  #classify({ sessionId, isNewSession = false, initial, signal }: Transmission<F>): Classified {
    const hasSession = sessionId !== undefined || isNewSession;
    if (signal !== undefined) {
      if (!hasSession && initial === undefined) return { path: "signal_resume", sessionId: null };
      return ambiguous("a signal resumes a turn, and cannot begin one");
    }
    if (this.#mode === "stateless") {
      return hasSession
        ? ambiguous("a stateless harness has no sessions")
        : { path: "stateless", sessionId: null };
    }
    const id = sessionId ?? (isNewSession ? this.#core.createId("ses") : undefined);
    if (typeof id !== "string" || id === "") {
      return { failure: failureOf("harness_session_id_unresolved", "the transmission names no session") };
    }
    return { path: isNewSession ? "new_session" : "existing_session", sessionId: id };
  }

  /**
   * Runs one turn, or resumes one. Returns `completed`, `suspended` or `errored`; for a signal also `resumed` with the turn, or
   * `already_resolved`. Errors of a transmission itself are `harness_session_id_unresolved` and
   * `harness_path_classification_ambiguous`. Rejects with a `ChatHarnessError` if the turn cannot wait or was cancelled.
   */
  async transmit(transmission: Transmission<F>, options: TurnOptions = {}): Promise<TransmissionOutcome<F>> {
    const classified = this.#classify(transmission);
    if ("failure" in classified) return errored(classified.failure);
    const { path, sessionId } = classified;
    const { initial, signal } = transmission;
    if (signal !== undefined) return this.#core.resolve(signal, options);
    return this.#core.inLane(sessionId, options, (abort) =>
      this.#core.start({ sessionId, initial, signal: abort, options, path: () => path }),
    );
  }

  /** What waits for a signal, of a session (null: without a session) or of all. Rejects with a `StoreError`. */
  pending(sessionId?: string | null): Promise<PendingTurn[]> {
    return this.#core.pending(sessionId === undefined ? {} : { sessionId });
  }

  /** Resumes turns for which an earlier process has accepted a signal. Rejects with a `StoreError`. */
  recover(options: RecoverOptions = {}): Promise<Omit<RecoverySummary, "delivered_count">> {
    return this.#core.recover(options);
  }

  /**
   * Refuses further turns and those that wait (`harness_closed`), and settles when the running turns have ended. Cancels what runs
   * after `timeoutMs`; rejects with `turn_abandoned` if it does not end within `abandonAfterMs`. The store stays open. Idempotent.
   */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#core.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Creates a harness. Throws a `GraphCompileError`, and `invalid_argument` for an option that is not valid. */
export const createHarness = <F extends Fields>(options: HarnessOptions<F>): Harness<F> =>
  new Harness(checkHarnessOptions(options));
