import type {
  GraphOutcome,
  InvocationEnd,
  LeaseProof,
  SignalPayload,
  StartOptions,
  StateOf,
  StoredSuspension,
  SuspendedOutcome,
} from "@harnesskit/graph";
import type { ChatTurnOutcome, DispatchPath, ErroredTurn } from "@harnesskit/protocol/chat";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";
import { activeTrace, recordSuspension, type Span, type SpanStart, traced } from "@harnesskit/wire/trace";
import type { ResumedTurn } from "./deliveries.ts";
import { type Failure, RefusedSignal, type Taken, takenBy, toFailure } from "./errors.ts";
import { type Added, addedNow, type ChatFields, messagesIn } from "./messages-field.ts";
import type { TurnOptions, TurnReport } from "./options.ts";
import type { TurnContext } from "./turn-context.ts";

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

/** What a harness stores with a pause, as the result of the record. */
interface PauseNote {
  readonly kind: "pause";
  /** How many pauses the invocation has had, including this one. */
  readonly pauses: number;
  /** Where the turn has added messages before it paused the last time. */
  readonly memo: Added;
}

/** The note of a record; an empty one if it was paused without a harness. */
const pauseNoteOf = ({ result }: Pick<StoredSuspension, "result">): PauseNote => {
  const note = result as PauseNote | null;
  return note?.kind === "pause" ? note : { kind: "pause", pauses: 1, memo: [] };
};

/** Identifies one pause of an invocation. */
export const pauseKeyOf = (
  record: Pick<StoredSuspension, "result" | "next_step" | "suspended_at" | "descriptor">,
): string =>
  [pauseNoteOf(record).pauses, record.next_step, record.suspended_at, record.descriptor.signal_id].join(" ");

/** A turn whose process died in the middle of it. */
export class TurnInterrupted extends HarnessError {
  static override readonly brand = "TurnInterrupted";
  readonly category = "turn_interrupted";
  constructor(options?: { cause?: unknown }) {
    const message = "the process that ran this turn ended before it; the conversation is unchanged";
    super("turn_interrupted", message, options);
  }
}

/** A part of a turn: from its beginning, or behind a pause, to its end or the next pause. */
interface Part<F extends ChatFields> {
  readonly sessionId: string | null;
  invocationId: string;
  readonly path: () => DispatchPath | undefined;
  /** What was kept with the pause behind which it begins. */
  readonly note?: PauseNote | undefined;
  readonly signal: AbortSignal;
  readonly options: TurnOptions;
  readonly span?: Span | undefined;
  /** `shared` are the options of every run of the graph. */
  readonly invoke: (
    shared: Required<
      Pick<StartOptions<F>, "signal" | "isSignalUnique" | "unfinished" | "metadata" | "settle">
    >,
  ) => Promise<GraphOutcome<F>>;
}

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
  readonly #context: TurnContext<F>;

  constructor(context: TurnContext<F>) {
    this.#context = context;
  }

  /** What ends a turn that was left in place of going on; undefined: it goes on. */
  get obstacle(): Error | undefined {
    return this.#context.policy === "report" ? new TurnInterrupted() : undefined;
  }

  /** Runs a turn from its beginning. Rejects only if its caller has cancelled it. */
  start({ initial, prepare, ...turn }: TurnStart<F>): Promise<PartEnd<F>> {
    const { sessionId } = turn;
    const { graph, createId } = this.#context;
    const invocationId = createId("inv");
    const invoke: Part<F>["invoke"] = async (shared) => {
      const leases = await prepare?.();
      return graph.invoke({ ...shared, leases, invocationId, sessionId, initial });
    };
    return traced(
      () => turnSpan(sessionId),
      (span) => this.#run({ ...turn, invocationId, span, invoke }),
    );
  }

  /** Resumes a paused turn. Rejects if its caller has cancelled it before it ended, and with a {@link RefusedSignal} if nothing has run. */
  resume(
    record: StoredSuspension,
    payload: JsonObject,
    lease: LeaseProof,
    call: Pick<Part<F>, "signal" | "options">,
  ): Promise<Resumed<F>> {
    const { session_id: sessionId, invocation_id: invocationId, descriptor, trace: paused } = record;
    const resumption = {
      resumeInvocation: invocationId,
      signalPayload: payload as SignalPayload<F>,
      leases: [lease],
      giveUp: this.obstacle,
    };
    const part: Part<F> = {
      ...call,
      sessionId,
      invocationId,
      path: () => "signal_resume",
      note: pauseNoteOf(record),
      invoke: (shared) => this.#context.graph.invoke({ ...shared, ...resumption }),
    };
    return traced(
      // The trace of the pause goes on; the links say where it was left, and who resumed it.
      () => ({ ...turnSpan(sessionId), parent: paused ?? activeTrace(), links: [paused, activeTrace()] }),
      async (span) => {
        recordSuspension(span, descriptor.signal_id, descriptor.metadata);
        const end = await this.#run({ ...part, span }, takenBy);
        if (end.kind === "failed" && end.settled === undefined) throw new RefusedSignal(end.failure);
        return end;
      },
    );
  }

  /**
   * Goes on with a turn that an earlier process began, or ends it. Returns its end, or undefined if it has paused, is running, or has
   * ended already. Rejects if nothing could be stored; then it can be tried again.
   */
  async recover(
    runId: string,
    sessionId: string,
    leases: readonly LeaseProof[],
    giveUp: Error | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly invocationId: string; readonly turn: ResumedTurn } | undefined> {
    const part: Part<F> = {
      sessionId,
      invocationId: runId,
      path: () => undefined,
      signal,
      options: {},
      invoke: (shared) => this.#context.graph.invoke({ ...shared, resumeInvocation: runId, leases, giveUp }),
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
    const { signal, options } = part;
    let settled: ChatTurnOutcome | undefined;
    const settle = (end: InvocationEnd<F>): JsonValue => {
      part.invocationId = end.invocation_id;
      settled = this.#turnOf(end, part);
      if (end.outcome === "suspended") return noteOf(end, part.note) as unknown as JsonValue;
      // The state is not stored until the turn is delivered.
      const { final_state: _, ...stored } = settled as ChatTurnOutcome & { readonly final_state?: unknown };
      return stored as unknown as JsonValue;
    };
    try {
      const { metadata = {} } = options;
      const shared = { signal, isSignalUnique: true, unfinished: "end", metadata, settle } as const;
      const outcome = await part.invoke(shared);
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
    return { ...this.#context.errored(failure), dispatch_path: path() };
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
    const replies = messagesIn(end.state, [...(part.note?.memo ?? []), addedNow(end)]);
    const final_state = this.#context.includesState ? (end.state as unknown as JsonObject) : undefined;
    return { outcome: "completed", replies, final_state, dispatch_path };
  }

  #report(part: Part<F>, outcome: TurnReport["outcome"], failure?: Failure): void {
    const { span, sessionId: session_id, invocationId: invocation_id } = part;
    const path = part.path();
    const { category: error_category, error } = failure ?? {};
    span?.set({
      "harness.chat.path": path,
      "harness.chat.outcome": outcome,
      "openarmature.error.category": error_category,
    });
    span?.fail(error_category);
    this.#context.report({ path, session_id, invocation_id, outcome, error_category, error });
  }
}

/** What is kept with a pause, behind an earlier one or none. */
const noteOf = <F extends ChatFields>(
  end: SuspendedOutcome<StateOf<F>>,
  before: PauseNote | undefined,
): PauseNote => ({
  kind: "pause",
  pauses: (before?.pauses ?? 0) + 1,
  memo: before === undefined ? [] : [...before.memo, addedNow(end)],
});
