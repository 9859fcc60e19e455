import {
  type Fields,
  GraphError,
  type GraphOutcome,
  type InvocationEnd,
  type InvokeOptions,
  type LeaseProof,
  type ObserverInput,
  type SignalPayload,
  type StartOptions,
  type StoredSuspension,
  type SuspendedOutcome,
} from "@harnesskit/graph";
import type { DispatchPath } from "@harnesskit/protocol/chat";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isThenable } from "@harnesskit/wire";
import type { Engine, TurnOptions } from "./engine-options.ts";
import { type Failure, toFailure } from "./failure.ts";
import { type PauseNote, pauseNoteOf } from "./pause-note.ts";
import { SubscriptionError } from "./subscription-error.ts";
import type { TurnShape } from "./turn-shape.ts";
import { messageOf } from "./warning.ts";

/** A turn that begins. */
export interface TurnStart<F extends Fields> {
  readonly sessionId: string | null;
  readonly initial?: StartOptions<F>["initial"];
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
  /** Which way it took, asked when it has ended. */
  readonly path: () => DispatchPath | undefined;
}

/** A turn that goes on. */
export interface TurnResume {
  readonly record: StoredSuspension;
  readonly payload: JsonObject;
  readonly lease: LeaseProof;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
}

/** What became of a resume. `failed`: the record may be waiting still. `refused`: nothing has run. */
export type Resumed<Turn> =
  | { readonly kind: "completed" | "paused" | "failed"; readonly turn: Turn }
  | { readonly kind: "already_resumed" }
  | { readonly kind: "being_resumed" }
  | { readonly kind: "refused"; readonly failure: Failure };

/** Whether somebody else has resumed the invocation, or is about to. */
const takenElsewhere = (error: unknown): "already_resumed" | "being_resumed" | undefined => {
  if (!GraphError.isInstance(error) || error.code !== "suspension_record_invalid") return undefined;
  const { reason } = error.data;
  return reason === "already_resumed" || reason === "being_resumed" ? reason : undefined;
};

/** A turn that says which way it took. */
const onPath = <Turn extends object>(turn: Turn, path: DispatchPath | undefined): Turn =>
  path === undefined ? turn : { ...turn, dispatch_path: path };

/** Runs invocations, makes turns of their ends, and keeps what is needed with their pauses. */
export class TurnRunner<F extends Fields, Turn extends object> {
  readonly #engine: Engine<F>;
  readonly #shape: TurnShape<F, Turn>;

  constructor(engine: Engine<F>, shape: TurnShape<F, Turn>) {
    this.#engine = engine;
    this.#shape = shape;
  }

  /** Runs a turn from its beginning. Rejects only when its caller has given it up. */
  async start({ sessionId, initial, signal, options, path }: TurnStart<F>): Promise<Turn> {
    const { graph, report, createId } = this.#engine;
    const invocationId = createId();
    const facts = { session_id: sessionId, invocation_id: invocationId };
    let outcome: GraphOutcome<F>;
    try {
      outcome = await graph.invoke({
        ...this.#common(signal, options),
        invocationId,
        ...(sessionId === null ? {} : { sessionId }),
        ...(initial === undefined ? {} : { initial }),
        settle: (end) => (end.outcome === "suspended" ? this.#pause(end, null) : undefined),
      } satisfies InvokeOptions<F>);
    } catch (error) {
      const failure = toFailure(error);
      const cancelled = signal.aborted ? "cancelled" : "errored";
      report({ path: path(), ...facts, outcome: cancelled, error_category: failure.category, error });
      if (signal.aborted) throw error;
      return onPath(this.#shape.errored(failure), path());
    }
    report({
      path: path(),
      ...facts,
      outcome: outcome.outcome,
      error_category: undefined,
      error: undefined,
    });
    const { completed, suspended } = this.#shape;
    return onPath(outcome.outcome === "completed" ? completed(outcome, null) : suspended(outcome), path());
  }

  /** Goes on with a paused turn. Rejects only when its caller has given it up before it ended. */
  async resume({ record, payload, lease, signal, options }: TurnResume): Promise<Resumed<Turn>> {
    const note = pauseNoteOf(record);
    const facts = {
      path: "signal_resume",
      session_id: record.session_id,
      invocation_id: record.invocation_id,
    } as const;
    let turn: Turn | undefined;
    const settle = (end: InvocationEnd<F>): JsonValue | undefined => {
      if (end.outcome === "suspended") {
        turn = onPath(this.#shape.suspended(end), facts.path);
        return this.#pause(end, note);
      }
      const { completed, errored } = this.#shape;
      turn = onPath(
        end.outcome === "completed" ? completed(end, note.memo) : errored(toFailure(end.error)),
        facts.path,
      );
      return this.#shape.kept(turn);
    };
    try {
      const outcome = await this.#engine.graph.invoke({
        ...this.#common(signal, options),
        resumeInvocation: record.invocation_id,
        signalPayload: payload as SignalPayload<F>,
        leases: [lease],
        settle,
      } satisfies InvokeOptions<F>);
      const done = { outcome: outcome.outcome, error_category: undefined, error: undefined };
      this.#engine.report({ ...facts, ...done });
      return { kind: outcome.outcome === "completed" ? "completed" : "paused", turn: turn as Turn };
    } catch (error) {
      const taken = takenElsewhere(error);
      if (taken !== undefined) return { kind: taken };
      const failure = toFailure(error);
      const isCancelled = turn === undefined && signal.aborted;
      const outcome = isCancelled ? "cancelled" : "errored";
      this.#engine.report({ ...facts, outcome, error_category: failure.category, error });
      if (isCancelled) throw error;
      if (turn === undefined) return { kind: "refused", failure };
      return { kind: "failed", turn: onPath(this.#shape.errored(failure), facts.path) };
    }
  }

  #common(signal: AbortSignal, { observers = [], metadata }: TurnOptions) {
    const all: readonly ObserverInput[] = [...this.#engine.observers, ...observers];
    return { signal, isSignalUnique: true, observers: all, ...(metadata === undefined ? {} : { metadata }) };
  }

  #pause(end: SuspendedOutcome<unknown>, before: PauseNote | null): PauseNote {
    this.#register(end);
    const outcome = end as Parameters<TurnShape<F, Turn>["memo"]>[0];
    return {
      kind: "pause",
      pauses: (before?.pauses ?? 0) + 1,
      memo: this.#shape.memo(outcome, before !== null, before?.memo ?? null),
    };
  }

  #register({ descriptor, invocation_id, session_id }: SuspendedOutcome<unknown>): void {
    let told: unknown;
    try {
      told = this.#engine.register({ signal_descriptor: descriptor, invocation_id, session_id });
    } catch (cause) {
      throw new SubscriptionError(`the signal cannot be registered: ${messageOf(cause)}`, { cause });
    }
    if (!isThenable(told)) return;
    told.then(undefined, () => {});
    throw new SubscriptionError("registerSignal has to answer at once and gave a promise");
  }
}
