import {
  type CompiledGraph,
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
import type { ChatTurnOutcome, DispatchPath, ErroredTurn } from "@harnesskit/protocol/chat";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isThenable } from "@harnesskit/wire";
import { activeTrace, recordSuspension, type Span, type SpanStart, traced } from "@harnesskit/wire/trace";
import type { ResumedTurn } from "./deliveries.ts";
import { type Failure, RefusedSignal, SubscriptionError, toFailure } from "./errors.ts";
import { addedBefore, addedNow, type ChatFields, messagesIn } from "./messages-field.ts";
import type { ChatHarnessOptions, TurnOptions, TurnReport } from "./options.ts";
import { type PauseNote, pauseNoteOf } from "./pause-note.ts";

/** A turn that begins. */
export interface TurnStart<F extends ChatFields> {
  readonly sessionId: string;
  readonly initial: StartOptions<F>["initial"];
  /** Takes what the turn needs before it begins; returns leases that the turn runs under. Rejects like a run. */
  readonly prepare?: (() => Promise<readonly LeaseProof[]>) | undefined;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
  /** The path of the turn, read when it has ended. */
  readonly path: () => DispatchPath | undefined;
}

/** A turn that is resumed. */
export interface TurnResume {
  readonly record: StoredSuspension;
  readonly payload: JsonObject;
  readonly lease: LeaseProof;
  /** Ends what an earlier process has begun of it with this error. */
  readonly giveUp: Error | undefined;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
}

/** A run that an earlier process began and did not end. */
export interface TurnRecovery extends Pick<TurnResume, "giveUp" | "signal"> {
  readonly runId: string;
  readonly sessionId: string;
  readonly leases: readonly LeaseProof[];
}

/** Why a part of a turn did not begin: another caller has resumed it or is about to, or the run has ended or runs. */
type Taken = "already_resumed" | "being_resumed" | "unknown" | "running";

/** How a part of a turn has ended. */
export type PartEnd<F extends ChatFields> =
  | { readonly kind: "ended"; readonly turn: ChatTurnOutcome; readonly outcome: GraphOutcome<F> }
  /** `settled` is what was to be stored as its end; undefined: nothing has run. The record may still be waiting. */
  | {
      readonly kind: "failed";
      readonly turn: ErroredTurn;
      readonly settled: ChatTurnOutcome | undefined;
      readonly failure: Failure;
    };

/** How a resume has ended: as a part does, or not at all because another caller has taken it. */
export type Resumed<F extends ChatFields> = PartEnd<F> | { readonly kind: Taken };

/** What runs turns: what all turns of a harness have in common. */
export interface TurnEngine<F extends ChatFields>
  extends Pick<ChatHarnessOptions<F>, "observers" | "registerSignal"> {
  readonly graph: CompiledGraph<F>;
  readonly errored: (failure: Failure) => ErroredTurn;
  /** Whether completed turns have the state. */
  readonly includesState: boolean;
  readonly report: (report: TurnReport) => void;
  readonly createId: (prefix: string) => string;
}

/** A part of a turn: from its beginning, or behind a pause, to its end or the next pause. */
interface Part<F extends ChatFields> {
  readonly sessionId: string | null;
  invocationId: string;
  readonly path: () => DispatchPath | undefined;
  /** What was kept with the pause behind which it begins. */
  readonly note: PauseNote | null;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
  readonly span?: Span | undefined;
  readonly invoke: (shared: SharedOptions<F>) => Promise<GraphOutcome<F>>;
}

/** The options of every run of the graph. */
type SharedOptions<F extends ChatFields> = Required<
  Pick<StartOptions<F>, "signal" | "isSignalUnique" | "unfinished" | "observers" | "metadata" | "settle">
>;

const takenReasons: Readonly<Record<string, readonly Taken[]>> = {
  suspension_record_invalid: ["already_resumed", "being_resumed"],
  run_record_invalid: ["unknown", "running"],
};

const takenBy = (error: unknown): { readonly kind: Taken } | undefined => {
  if (!GraphError.isInstance(error)) return undefined;
  const kind = takenReasons[error.code]?.find((reason) => reason === error.data.reason);
  return kind && { kind };
};

/** What is stored of the end of a resumed turn until it is delivered. */
const toStored = (turn: ChatTurnOutcome): JsonValue => {
  if (turn.outcome !== "completed") return turn as unknown as JsonValue;
  const { final_state: _, ...stored } = turn;
  return stored as unknown as JsonValue;
};

const turnSpan = (sessionId: string | null): SpanStart => ({
  name: "invoke_workflow chat",
  attributes: {
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": "chat",
    "gen_ai.conversation.id": sessionId,
  },
  metric: "harness.chat.turn.duration",
  sessionId,
});

/** Runs invocations, turns their ends into turns, and stores what their pauses need. */
export class TurnRunner<F extends ChatFields> {
  readonly #engine: TurnEngine<F>;

  constructor(engine: TurnEngine<F>) {
    this.#engine = engine;
  }

  /** Runs a turn from its beginning. Rejects only if its caller has cancelled it. */
  start(turn: TurnStart<F>): Promise<PartEnd<F>> {
    const { sessionId, initial, prepare, signal, options, path } = turn;
    const { graph, createId } = this.#engine;
    const invocationId = createId("inv");
    return traced(
      () => turnSpan(sessionId),
      (span) =>
        this.#run({
          sessionId,
          invocationId,
          path,
          note: null,
          signal,
          options,
          span,
          invoke: async (shared) => {
            const leases = await prepare?.();
            return graph.invoke({ ...shared, leases: leases ?? [], invocationId, sessionId, initial });
          },
        }),
    );
  }

  /** Resumes a paused turn. Rejects if its caller has cancelled it before it ended, and with a {@link RefusedSignal} if nothing has run. */
  resume({ record, payload, lease, giveUp, signal, options }: TurnResume): Promise<Resumed<F>> {
    const { session_id: sessionId, invocation_id: invocationId, descriptor, trace: paused } = record;
    return traced(
      // The trace of the pause goes on; the links say where it was left, and who resumed it.
      () => ({
        ...turnSpan(sessionId),
        parent: paused ?? activeTrace(),
        links: [paused, activeTrace()],
      }),
      async (span) => {
        recordSuspension(span, descriptor.signal_id, descriptor.metadata);
        const end = await this.#run(
          {
            sessionId,
            invocationId,
            path: () => "signal_resume",
            note: pauseNoteOf(record),
            signal,
            options,
            span,
            invoke: (shared) =>
              this.#engine.graph.invoke({
                ...shared,
                resumeInvocation: invocationId,
                signalPayload: payload as SignalPayload<F>,
                leases: [lease],
                giveUp,
              }),
          },
          takenBy,
        );
        if (end.kind === "failed" && end.settled === undefined) throw new RefusedSignal(end.failure);
        return end;
      },
    );
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
  }: TurnRecovery): Promise<{ readonly invocationId: string; readonly turn: ResumedTurn } | undefined> {
    const part: Part<F> = {
      sessionId,
      invocationId: runId,
      path: () => undefined,
      note: null,
      signal,
      options: {},
      invoke: (shared) => this.#engine.graph.invoke({ ...shared, resumeInvocation: runId, leases, giveUp }),
    };
    const end = await this.#run(part, takenBy);
    if (end.kind === "failed" && end.settled?.outcome !== "errored") throw end.failure.error;
    if (!("turn" in end) || end.turn.outcome === "suspended") return undefined;
    return { invocationId: part.invocationId, turn: end.turn };
  }

  /** @param elsewhere says whether an error means that another caller has taken it: then nothing is reported */
  async #run<Elsewhere = never>(
    part: Part<F>,
    elsewhere: (error: unknown) => Elsewhere | undefined = () => undefined,
  ): Promise<PartEnd<F> | Elsewhere> {
    const { note, signal, options } = part;
    let settled: ChatTurnOutcome | undefined;
    const settle = (end: InvocationEnd<F>): JsonValue => {
      part.invocationId = end.invocation_id;
      settled = this.#turnOf(end, part);
      return end.outcome === "suspended" ? this.#pause(end, note) : toStored(settled);
    };
    try {
      const { observers = [], metadata = {} } = options;
      const outcome = await part.invoke({
        signal,
        isSignalUnique: true,
        unfinished: "end",
        metadata,
        settle,
        observers: [...(this.#engine.observers ?? []), ...observers],
      });
      this.#report(part, outcome.outcome);
      return { kind: "ended", turn: settled ?? this.#turnOf(outcome, part), outcome };
    } catch (error) {
      const taken = elsewhere(error);
      if (taken !== undefined) return taken;
      const isCancelled = settled === undefined && signal.aborted;
      const failure = toFailure(error);
      this.#report(part, isCancelled ? "cancelled" : "errored", failure);
      if (isCancelled) throw error;
      return { kind: "failed", turn: this.#errored(failure, part), settled, failure };
    }
  }

  #errored(failure: Failure, { path }: Part<F>): ErroredTurn {
    return { ...this.#engine.errored(failure), dispatch_path: path() };
  }

  #turnOf(end: InvocationEnd<F>, part: Part<F>): ChatTurnOutcome {
    if (end.outcome === "errored") return this.#errored(toFailure(end.error), part);
    const dispatch_path = part.path();
    if (end.outcome === "suspended") {
      return {
        outcome: "suspended",
        signal_descriptor: end.descriptor,
        pending_messages: messagesIn(end.state, [addedNow(end)]),
        invocation_id: end.invocation_id,
        dispatch_path,
      };
    }
    const replies = messagesIn(end.state, [...addedBefore(part.note?.memo), addedNow(end)]);
    const final_state = this.#engine.includesState ? (end.state as unknown as JsonObject) : undefined;
    return { outcome: "completed", replies, final_state, dispatch_path };
  }

  #report(part: Part<F>, outcome: TurnReport["outcome"], failure?: Failure): void {
    const { span, sessionId: session_id, invocationId: invocation_id } = part;
    const path = part.path();
    span?.set({
      "harness.chat.path": path,
      "harness.chat.outcome": outcome,
      "openarmature.error.category": failure?.category,
    });
    span?.fail(failure?.category);
    const { category: error_category, error } = failure ?? { category: undefined, error: undefined };
    this.#engine.report({ path, session_id, invocation_id, outcome, error_category, error });
  }

  /** Registers a pause; returns what is kept with it. */
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
    const memo = before === null ? [] : [...addedBefore(before.memo), addedNow(end)];
    return { kind: "pause", pauses: (before?.pauses ?? 0) + 1, memo };
  }
}
