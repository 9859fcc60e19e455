import type { CompletedPosition } from "@harnesskit/protocol/chat";
import type { Plan } from "../compile/plan.ts";
import type { Journal } from "../durability/journal.ts";
import { errorCategory, GraphError, saveError, thrownMessage } from "../errors.ts";
import type { InvokeOptions } from "../invoke-options.ts";
import { isList } from "../list.ts";
import { EventQueue } from "../observers/event-queue.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import { type Registration, toRegistrations } from "../observers/observers.ts";
import type { CompletedOutcome, GraphOutcome, InvocationEnd, SuspendedOutcome } from "../outcome.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { Leases } from "../stores/leases.ts";
import type { RunWrite } from "../stores/run-store.ts";
import type { SuspensionWrite } from "../stores/suspension-store.ts";
import { toEndRecord, toRecord } from "../suspension/record.ts";
import type { AbortScope } from "./abort-scope.ts";
import { type AmbientScope, runIn } from "./ambient.ts";
import type { Beginning } from "./begin.ts";
import type { InvocationInfo } from "./context.ts";
import type { Host } from "./host.ts";
import { Pause, unsupported } from "./pause.ts";
import { runGraph } from "./run-graph.ts";

/** What the caller of an invocation has given. */
export interface Call {
  readonly host: Host;
  /** Of the invocation that begins, or of the one that goes on. */
  readonly id: string;
  readonly options: InvokeOptions;
  /** Leases of the invocation and of its caller. */
  readonly leases: Leases;
  /** Receives each event as it happens; must not throw. */
  readonly onEvent: ((event: NodeEvent) => void) | undefined;
  /** The observers that were attached to graphs when it was called. */
  readonly attached: ReadonlyMap<Plan, readonly Registration[]>;
}

/** One run of a graph, with all graphs inside of it: who observes it, how far it is, and what is stored of it. */
export class Invocation implements AmbientScope {
  readonly host: Host;
  readonly info: InvocationInfo;
  readonly begun: Beginning;
  readonly positions: CompletedPosition[];
  nextStep: number;
  readonly #call: Call;
  readonly #observers: readonly Registration[];
  /** Undefined without an observer. */
  readonly #events: EventQueue | undefined;
  #saving: Promise<unknown> = Promise.resolve();

  constructor(call: Call, begun: Beginning) {
    this.host = call.host;
    this.info = begun.info;
    this.begun = begun;
    this.#call = call;
    this.#observers = toRegistrations(call.options.observers);
    this.positions = [...(begun.resumed?.record.completed_positions ?? [])];
    this.nextStep = begun.resumed?.record.next_step ?? 0;
    for (const entry of begun.journal?.stored?.entries ?? []) {
      if (entry.kind !== "completed") continue;
      const { namespace, step, next_step } = entry;
      if (step !== null) this.positions.push({ namespace: [...namespace], step });
      this.nextStep = Math.max(this.nextStep, next_step);
    }
    if (this.#observers.length + call.attached.size === 0) return;
    // An observer that suspends is refused like any code outside of a node.
    this.#events = new EventQueue(this.host, this.info.invocationId, (callback) => runIn(this, callback));
  }

  /** Undefined where progress is not recorded. */
  get journal(): Journal | undefined {
    return this.begun.journal;
  }

  /** The id that the run began with. */
  get runId(): string {
    return this.journal?.runId ?? this.info.invocationId;
  }

  /** True where an earlier process began the run. */
  get isRecovered(): boolean {
    return this.journal?.stored !== undefined;
  }

  /** What code outside of a node's body gets. */
  suspend(): never {
    throw unsupported("only the body of a node can suspend");
  }

  /** The observers that were attached to a graph when the invocation began. */
  attachedTo(plan: Plan): readonly Registration[] {
    return this.#call.attached.get(plan) ?? [];
  }

  /** Whether events of a graph with these attached observers are needed. */
  isObserved(attached: readonly Registration[]): boolean {
    return attached.length + this.#observers.length > 0 || this.#call.onEvent !== undefined;
  }

  report(event: NodeEvent, attached: readonly Registration[]): void {
    this.#call.onEvent?.(event);
    this.#events?.push(event, [...attached, ...this.#observers]);
  }

  /** The number of the next node that runs. Throws `step_limit_reached`. */
  takeStep(): number {
    const { maxSteps } = this.host;
    if (this.nextStep < maxSteps) return this.nextStep++;
    throw new GraphError("step_limit_reached", `maxSteps of ${maxSteps} is reached`);
  }

  /** Runs the graph to its end or its pause, and stores what is to be stored. */
  async run(abort: AbortScope): Promise<GraphOutcome> {
    const { host, begun } = this;
    let final: Snapshot;
    try {
      if (begun.obstacle !== undefined) throw begun.obstacle;
      const frame = {
        invocation: this,
        plan: host.plan,
        namespace: [],
        path: "",
        parents: [],
        attached: this.attachedTo(host.plan),
        fanOutIndexes: [],
        branchNames: [],
        canSuspend: true,
        abort,
      };
      final = await runGraph(frame, begun.entry, begun.resumed?.cursor);
    } catch (error) {
      if (error instanceof Pause) return this.#pause(error);
      await this.#giveUp(error);
      throw error;
    }
    return this.#complete(final);
  }

  /** No event comes after this. */
  end(): void {
    this.#events?.end();
  }

  get #facts() {
    const { invocationId: invocation_id, correlationId: correlation_id, sessionId: session_id } = this.info;
    return { invocation_id, correlation_id, session_id, entry_state: this.begun.entry.view as never };
  }

  get #isAutoSaved(): boolean {
    return this.begun.session !== undefined && this.host.sessions.autoSave;
  }

  /** Writes the session, if a state is given, the suspension and the progress of the run, if there are any, at once. */
  async #commit(
    state: Snapshot | undefined,
    suspension: SuspensionWrite | undefined,
    run: RunWrite | undefined,
  ): Promise<void> {
    const { session } = this.begun;
    const write = state && session?.write(state, this.#unchanged);
    if (write === undefined && suspension === undefined && run === undefined) return;
    const { leases } = this.#call;
    const receipt = await this.host.store.commit({ session: write, suspension, run, leases: leases.proofs });
    if (write !== undefined && receipt.session !== undefined) session?.wrote(write, receipt.session.version);
  }

  /** The state whose values, where the run still has them, leave the session as it is now. */
  get #unchanged(): Snapshot | undefined {
    const { resumed, entry } = this.begun;
    if (resumed !== undefined) return resumed.record.is_session_saved ? resumed.paused : undefined;
    return this.isRecovered ? entry : undefined;
  }

  /** Ends the recording of the run, as a part of its last write, in which nothing else need be. */
  async #commitEnd(state: Snapshot | undefined, suspension: SuspensionWrite | undefined): Promise<void> {
    const { journal } = this;
    await journal?.end();
    const run = journal?.isStored === true ? { kind: "end" as const, runId: journal.runId } : undefined;
    await this.#commit(state, suspension, run);
  }

  /** Saves the session now, after an earlier save has ended; returns false without a session. */
  async saveSession(state: Snapshot): Promise<boolean> {
    if (this.begun.session === undefined) return false;
    const { journal } = this;
    const save = this.#saving.then(() =>
      journal === undefined
        ? this.#commit(state, undefined, undefined)
        : journal.saving(this.#listLengths(state), (run) => this.#commit(state, undefined, run)),
    );
    this.#saving = save.catch(() => {});
    await save.catch((cause: unknown) => {
      throw saveError(cause, "session_save_failed", { recoverableState: state.view });
    });
    return true;
  }

  #listLengths(state: Snapshot): Record<string, number> {
    const cells = this.host.sessions.fields.map(([field]) => [field, state.cell(field)] as const);
    return Object.fromEntries(cells.flatMap(([field, cell]) => (isList(cell) ? [[field, cell.length]] : [])));
  }

  #endOf(end: Exclude<InvocationEnd, { outcome: "suspended" }>): SuspensionWrite | undefined {
    const { resumed } = this.begun;
    if (resumed === undefined && !this.isRecovered) return undefined;
    const result = this.#call.options.settle?.(end);
    if (resumed !== undefined) {
      const { invocation_id: invocationId, revision: expectedRevision } = resumed.record;
      const isDelivered = result === undefined ? undefined : false;
      const changed = { status: end.outcome, expectedRevision, isDelivered, result: result ?? null };
      return { kind: "patch", invocationId, ...changed };
    }
    // A run that never paused has a record only if there is something to deliver.
    if (result === undefined) return undefined;
    return { kind: "put", record: toEndRecord(this, end.outcome, result), expectedRevision: null };
  }

  /** Stores the session and the end of a resumed run, in one write. */
  async #complete(state: Snapshot): Promise<GraphOutcome> {
    const outcome: CompletedOutcome<never> = {
      ...this.#facts,
      outcome: "completed",
      state: state.view as never,
    };
    await this.#saving;
    try {
      await this.#commitEnd(this.#isAutoSaved ? state : undefined, this.#endOf(outcome));
    } catch (cause) {
      const code = this.#isAutoSaved ? "session_save_failed" : "suspension_persistence_failed";
      throw saveError(cause, code, { recoverableState: state.view });
    }
    return outcome;
  }

  /** Stores what became of a run that failed, was cancelled or is ambiguous. If that fails, it may go on again, and its error counts. */
  async #giveUp(error: unknown): Promise<void> {
    const { journal } = this;
    // What could not be recorded is for the process that goes on with the run; nothing is ended here.
    if (journal?.isInterrupted === true) return;
    const category = errorCategory(error);
    const isKept = this.#call.options.unfinished !== "end";
    const isCancelled = category === "invocation_cancelled";
    // A cancelled pause may be resumed again; one that failed may not.
    const isOpen = isCancelled
      ? this.begun.resumed !== undefined || isKept
      : category === "node_ambiguous" && isKept;
    try {
      if (isOpen) return await journal?.flush();
      const end = { outcome: "errored", error, invocation_id: this.info.invocationId } as const;
      await this.#commitEnd(undefined, isCancelled ? undefined : this.#endOf(end));
    } catch {
      // It is still suspended, or recorded.
    }
  }

  /** Stores a pause and the session, in one write. Rejects with `suspension_persistence_failed`. */
  async #pause(pause: Pause): Promise<GraphOutcome> {
    const { resumed } = this.begun;
    const { settle, isSignalUnique } = this.#call.options;
    const state = pause.frames.at(-1)?.state as Snapshot;
    const outcome: SuspendedOutcome<never> = {
      ...this.#facts,
      outcome: "suspended",
      state: state.view as never,
      descriptor: pause.descriptor,
      node_name: pause.namespace[0] as string,
      namespace: pause.namespace,
    };
    await this.#saving;
    try {
      const result = settle?.(outcome) ?? resumed?.record.result ?? null;
      const record = toRecord(pause, this, this.#isAutoSaved, result);
      const expectedRevision = resumed?.record.revision ?? null;
      const put = { kind: "put", record, expectedRevision, isSignalUnique } as const;
      await this.#commitEnd(this.#isAutoSaved ? state : undefined, put);
    } catch (cause) {
      const error =
        GraphError.isInstance(cause) && cause.code === "suspension_persistence_failed"
          ? cause
          : new GraphError(
              "suspension_persistence_failed",
              `the pause cannot be stored: ${thrownMessage(cause)}`,
              { cause, namespace: pause.namespace, recoverableState: state.view },
            );
      pause.report(error);
      throw error;
    }
    pause.report();
    return outcome;
  }
}
