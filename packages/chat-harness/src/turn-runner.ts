import {
  type CompiledGraph,
  type Fields,
  GraphError,
  type GraphOutcome,
  type InvocationEnd,
  type LeaseProof,
  type SignalPayload,
  type StartOptions,
  type StateOf,
  type StoredSuspension,
  type SuspendedOutcome,
  thrownMessage,
} from "@harnesskit/graph";
import type { ChatTurnOutcome, DispatchPath } from "@harnesskit/protocol/chat";
import { type JsonObject, type JsonValue, JsonValueSchema } from "@harnesskit/protocol/envelope";
import { isThenable } from "@harnesskit/wire";
import { activeTrace, recordSuspension, type Span, traced } from "@harnesskit/wire/trace";
import * as z from "zod";
import type { ChatFields, ChatTurns } from "./chat-turns.ts";
import { type Failure, RefusedSignal, SubscriptionError, toFailure } from "./errors.ts";
import type { EngineOptions, TurnOptions, TurnReport } from "./options.ts";
import { recordTurn, turnSpan } from "./turn-span.ts";

/** What a harness stores with a pause, as the result of the record. */
const PauseNoteSchema = z.object({
  kind: z.literal("pause"),
  /** How many pauses the invocation has had, including this one. */
  pauses: z.int().positive(),
  memo: JsonValueSchema,
});
type PauseNote = z.infer<typeof PauseNoteSchema>;

/** The note of a record; an empty one if it was paused without a harness. */
const pauseNoteOf = ({ result }: Pick<StoredSuspension, "result">): PauseNote =>
  PauseNoteSchema.safeParse(result).data ?? { kind: "pause", pauses: 1, memo: null };

/** Identifies one pause of an invocation. */
export const pauseKeyOf = (
  record: Pick<StoredSuspension, "result" | "next_step" | "suspended_at" | "descriptor">,
): string =>
  [pauseNoteOf(record).pauses, record.next_step, record.suspended_at, record.descriptor.signal_id].join(" ");

/** A turn that begins. */
export interface TurnStart<F extends Fields> {
  readonly sessionId: string;
  readonly initial: StartOptions<F>["initial"];
  /** Takes what the turn needs before it begins; returns leases that the turn runs under. Rejects like a run. */
  readonly prepare?: (() => Promise<readonly LeaseProof[]>) | undefined;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
  /** The path of the turn, read when it has ended. */
  readonly path: () => DispatchPath | undefined;
  /** Receives the state of a turn that has completed. */
  readonly completed?: ((state: StateOf<F>) => void) | undefined;
}

/** A turn that is resumed. */
export interface TurnResume {
  readonly record: StoredSuspension;
  readonly payload: JsonObject;
  readonly lease: LeaseProof;
  /** Ends what an earlier process has begun of it with this error. */
  readonly giveUp?: Error | undefined;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
}

/** A run that an earlier process began and did not end. */
export interface TurnRecovery {
  readonly runId: string;
  readonly sessionId: string;
  readonly leases: readonly LeaseProof[];
  /** Ends it with this error in place of going on. */
  readonly giveUp?: Error | undefined;
  readonly signal: AbortSignal;
}

/** The result of a resume. `failed`: the record may still be waiting. The last two: another caller has resumed it, or is about to. */
export type Resumed =
  | { readonly kind: "completed" | "paused" | "failed"; readonly turn: ChatTurnOutcome }
  | { readonly kind: "already_resumed" | "being_resumed" };

const takenElsewhere = (error: unknown): "already_resumed" | "being_resumed" | undefined => {
  if (!GraphError.isInstance(error) || error.code !== "suspension_record_invalid") return undefined;
  const { reason } = error.data;
  return reason === "already_resumed" || reason === "being_resumed" ? reason : undefined;
};

const onPath = (turn: ChatTurnOutcome, path: DispatchPath | undefined): ChatTurnOutcome =>
  path === undefined ? turn : { ...turn, dispatch_path: path };

type ReportFacts = Pick<TurnReport, "path" | "session_id" | "invocation_id">;

/** What runs turns: what all turns of a harness have in common. */
export interface TurnEngine<F extends ChatFields>
  extends Pick<EngineOptions<F>, "observers" | "registerSignal"> {
  readonly graph: CompiledGraph<F>;
  readonly report: (report: TurnReport) => void;
  readonly createId: (prefix: string) => string;
}

/** Runs invocations, turns their ends into turns, and stores what their pauses need. */
export class TurnRunner<F extends ChatFields> {
  readonly #engine: TurnEngine<F>;
  readonly #turns: ChatTurns<F>;

  constructor(engine: TurnEngine<F>, turns: ChatTurns<F>) {
    this.#engine = engine;
    this.#turns = turns;
  }

  /** Runs a turn from its beginning. Rejects only if its caller has cancelled it. */
  start(turn: TurnStart<F>): Promise<ChatTurnOutcome> {
    const { sessionId } = turn;
    return traced(
      () => turnSpan(sessionId),
      (span) => this.#start(turn, span),
    );
  }

  async #start(
    { sessionId, initial, prepare, signal, options, path, completed }: TurnStart<F>,
    span: Span | undefined,
  ): Promise<ChatTurnOutcome> {
    const { graph, createId } = this.#engine;
    const turns = this.#turns;
    const invocationId = createId("inv");
    const facts = () => ({ path: path(), session_id: sessionId, invocation_id: invocationId });
    let outcome: GraphOutcome<F>;
    try {
      const leases = (await prepare?.()) ?? [];
      outcome = await graph.invoke({
        ...this.#common(signal, options),
        invocationId,
        leases,
        sessionId,
        initial,
        settle: (end) => (end.outcome === "suspended" ? this.#pause(end, null) : undefined),
      });
    } catch (error) {
      const failure = this.#reportFailure(facts(), error, signal.aborted, span);
      if (signal.aborted) throw error;
      return onPath(turns.errored(failure), path());
    }
    this.#report(facts(), outcome.outcome, span);
    if (outcome.outcome === "completed") completed?.(outcome.state);
    return onPath(
      outcome.outcome === "completed" ? turns.completed(outcome, null) : turns.suspended(outcome),
      path(),
    );
  }

  /** Resumes a paused turn. Rejects if its caller has cancelled it before it ended, and with a {@link RefusedSignal} if nothing has run. */
  resume(resumed: TurnResume): Promise<Resumed> {
    const { session_id: sessionId, descriptor, trace: paused } = resumed.record;
    const { signal_id: signalId, metadata } = descriptor;
    return traced(
      // The trace of the pause goes on; the links say where it was left, and who resumed it.
      () => ({
        ...turnSpan(sessionId),
        parent: paused ?? activeTrace(),
        links: [paused, activeTrace()],
      }),
      (span) => {
        recordSuspension(span, signalId, metadata);
        return this.#resume(resumed, span);
      },
    );
  }

  async #resume(
    { record, payload, lease, giveUp, signal, options }: TurnResume,
    span: Span | undefined,
  ): Promise<Resumed> {
    const note = pauseNoteOf(record);
    const { session_id, invocation_id } = record;
    const facts = { path: "signal_resume", session_id, invocation_id } as const;
    const turns = this.#turns;
    let turn: ChatTurnOutcome | undefined;
    const settle = (end: InvocationEnd<F>): JsonValue | undefined => {
      if (end.outcome === "suspended") {
        turn = onPath(turns.suspended(end), facts.path);
        return this.#pause(end, note);
      }
      const ended =
        end.outcome === "completed" ? turns.completed(end, note.memo) : turns.errored(toFailure(end.error));
      turn = onPath(ended, facts.path);
      return turns.stored(turn);
    };
    try {
      const { outcome } = await this.#engine.graph.invoke({
        ...this.#common(signal, options),
        resumeInvocation: invocation_id,
        signalPayload: payload as SignalPayload<F>,
        leases: [lease],
        giveUp,
        settle,
      });
      this.#report(facts, outcome, span);
      return { kind: outcome === "completed" ? "completed" : "paused", turn: turn as ChatTurnOutcome };
    } catch (error) {
      const taken = takenElsewhere(error);
      if (taken !== undefined) return { kind: taken };
      const isCancelled = turn === undefined && signal.aborted;
      const failure = this.#reportFailure(facts, error, isCancelled, span);
      if (isCancelled) throw error;
      if (turn === undefined) throw new RefusedSignal(failure);
      return { kind: "failed", turn: onPath(turns.errored(failure), facts.path) };
    }
  }

  /**
   * Goes on with a turn that an earlier process began, or ends it. Returns its end, or undefined if it has paused, is running, or has
   * ended already. Rejects if nothing could be stored; then it can be tried again.
   */
  async recover({
    runId,
    sessionId,
    leases,
    giveUp,
    signal,
  }: TurnRecovery): Promise<{ readonly invocationId: string; readonly turn: ChatTurnOutcome } | undefined> {
    const turns = this.#turns;
    let ended: ChatTurnOutcome | undefined;
    let failed: ChatTurnOutcome | undefined;
    let invocationId = runId;
    const settle = (end: InvocationEnd<F>): JsonValue | undefined => {
      invocationId = end.invocation_id;
      if (end.outcome === "suspended") return this.#pause(end, null);
      if (end.outcome === "completed") ended = turns.completed(end, null);
      else failed = turns.errored(toFailure(end.error));
      return turns.stored((failed ?? ended) as ChatTurnOutcome);
    };
    const facts = () => ({ path: undefined, session_id: sessionId, invocation_id: invocationId });
    try {
      const outcome = await this.#engine.graph.invoke({
        ...this.#common(signal, {}),
        resumeInvocation: runId,
        leases,
        giveUp,
        settle,
      });
      this.#report(facts(), outcome.outcome, undefined);
    } catch (error) {
      const reason =
        GraphError.isInstance(error) && error.code === "run_record_invalid" ? error.data.reason : "";
      if (reason === "unknown" || reason === "running") return undefined;
      this.#reportFailure(facts(), error, false, undefined);
      if (failed === undefined) throw error;
    }
    const turn = failed ?? ended;
    return turn && { invocationId, turn };
  }

  #common(signal: AbortSignal, { observers = [], metadata = {} }: TurnOptions) {
    const all = [...(this.#engine.observers ?? []), ...observers];
    return { signal, isSignalUnique: true, unfinished: "end" as const, observers: all, metadata };
  }

  #report(
    facts: ReportFacts,
    outcome: TurnReport["outcome"],
    span: Span | undefined,
    error?: unknown,
    category?: string,
  ): void {
    recordTurn(span, facts.path, outcome, category);
    this.#engine.report({ ...facts, outcome, error_category: category, error });
  }

  #reportFailure(facts: ReportFacts, error: unknown, isCancelled: boolean, span: Span | undefined): Failure {
    const failure = toFailure(error);
    this.#report(facts, isCancelled ? "cancelled" : "errored", span, error, failure.category);
    return failure;
  }

  #pause(end: SuspendedOutcome<StateOf<F>>, before: PauseNote | null): PauseNote {
    const { descriptor, invocation_id, session_id } = end;
    let given: unknown;
    try {
      given = this.#engine.registerSignal?.({ signal_descriptor: descriptor, invocation_id, session_id });
    } catch (cause) {
      throw new SubscriptionError(`the signal cannot be registered: ${thrownMessage(cause)}`, { cause });
    }
    if (isThenable(given)) {
      given.then(undefined, () => {});
      throw new SubscriptionError("registerSignal must not return a promise");
    }
    const memo = this.#turns.memo(end, before !== null, before?.memo ?? null);
    return { kind: "pause", pauses: (before?.pauses ?? 0) + 1, memo };
  }
}
