import type { CompletedPosition } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";
import type { Plan } from "../compile/plan.ts";
import { Journal } from "../durability/journal.ts";
import { errorCategory, GraphError, type GraphErrorCode, thrownMessage } from "../errors.ts";
import type { InvokeOptions } from "../invoke-options.ts";
import { isList } from "../list.ts";
import { EventQueue } from "../observers/event-queue.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import { type Registration, toRegistrations } from "../observers/observers.ts";
import type { GraphOutcome, InvocationEnd } from "../outcome.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { LeaseProof } from "../stores/lease-store.ts";
import type { RunAppend, RunEnd, RunWrite } from "../stores/run-store.ts";
import type { SuspensionWrite } from "../stores/suspension-store.ts";
import { toEndRecord, toRecord } from "../suspension/record.ts";
import { type AmbientScope, runIn } from "./ambient.ts";
import type { Beginning, BegunRun, Host } from "./beginning.ts";
import type { InvocationInfo } from "./context.ts";
import { type Pause, unsupported } from "./pause.ts";

/** The observers that are attached to a graph and those inside of it. */
export const attachedNow = ({ family }: Plan): ReadonlyMap<Plan, readonly Registration[]> =>
  new Map([...family].filter((plan) => plan.observers.length > 0).map((plan) => [plan, plan.observers]));

const isConflict = (cause: unknown): boolean =>
  HarnessError.isInstance(cause) && ["session_write_conflict", "lease_lost"].includes(cause.code);

const saveError = (cause: unknown, code: GraphErrorCode, state: Snapshot): GraphError => {
  if (GraphError.isInstance(cause)) return cause;
  const details = { cause, recoverableState: state.view };
  return isConflict(cause)
    ? new GraphError(
        "session_write_conflict",
        `another run has written the session: ${thrownMessage(cause)}`,
        details,
      )
    : new GraphError(code, `the state cannot be stored: ${thrownMessage(cause)}`, details);
};

/** What the caller of an invocation has given. */
interface Call {
  readonly options: InvokeOptions;
  /** Leases of the invocation and of its caller. */
  readonly leases: readonly LeaseProof[];
  /** Receives each event as it happens; must not throw. */
  readonly onEvent: ((event: NodeEvent) => void) | undefined;
  /** The observers that were attached to graphs when it was called. */
  readonly attached: ReturnType<typeof attachedNow>;
}

/** One run of a graph, with all graphs inside of it: who observes it, how far it is, and what is stored of it. */
export class Invocation implements AmbientScope {
  readonly host: Host;
  readonly info: InvocationInfo;
  readonly begun: Beginning;
  readonly observers: readonly Registration[];
  readonly positions: CompletedPosition[];
  nextStep: number;
  readonly #call: Call;
  /** Undefined without an observer. */
  readonly #events: EventQueue | undefined;
  #saving: Promise<unknown> = Promise.resolve();
  /** Undefined where progress is not recorded. */
  readonly journal: Journal | undefined;

  constructor(host: Host, begun: Beginning, call: Call) {
    this.host = host;
    this.info = begun.info;
    this.begun = begun;
    this.#call = call;
    this.observers = toRegistrations(call.options.observers);
    this.positions = [...(begun.resumed?.record.completed_positions ?? [])];
    this.nextStep = begun.resumed?.record.next_step ?? 0;
    for (const entry of begun.run?.stored?.entries ?? []) {
      if (entry.kind !== "completed") continue;
      const { namespace, step, next_step } = entry;
      if (step !== null) this.positions.push({ namespace: [...namespace], step });
      this.nextStep = Math.max(this.nextStep, next_step);
    }
    this.journal = begun.run && this.#openJournal(begun.run);
    if (this.observers.length + call.attached.size === 0) return;
    // An observer that suspends is refused like any code outside of a node.
    const enter = (callback: () => void) => runIn(this, callback);
    this.#events = new EventQueue({ ...host, invocationId: this.info.invocationId, enter });
  }

  #openJournal({ runId, record, stored, resolved = [] }: BegunRun): Journal {
    const { store, clock } = this.host;
    const write = async (run: RunAppend) => {
      try {
        await store.commit({ run, leases: this.#call.leases });
      } catch (cause) {
        throw saveError(cause, "run_persistence_failed", this.begun.entry);
      }
    };
    return new Journal({ runId, clock, stored, record, resolved, write });
  }

  /** The id that the run began with. */
  get runId(): string {
    return this.begun.run?.runId ?? this.info.invocationId;
  }

  /** True where an earlier process began the run. */
  get isRecovered(): boolean {
    return this.begun.run?.stored !== undefined;
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
    return attached.length + this.observers.length > 0 || this.#call.onEvent !== undefined;
  }

  report(event: NodeEvent, attached: readonly Registration[]): void {
    this.#call.onEvent?.(event);
    this.#events?.push({ event, to: [...attached, ...this.observers] });
  }

  /** The number of the next node that runs. Throws `step_limit_reached`. */
  takeStep(): number {
    const { maxSteps } = this.host;
    if (this.nextStep >= maxSteps) {
      throw new GraphError("step_limit_reached", `maxSteps of ${maxSteps} is reached`);
    }
    return this.nextStep++;
  }

  /** No event comes after this. */
  end(): void {
    this.#events?.end();
  }

  get #isAutoSaved(): boolean {
    return this.begun.session !== undefined && this.host.sessions.autoSave;
  }

  /** Writes the session, if a state is given, the suspension and the progress of the run, if there are any, at once. */
  async #commit(
    state: Snapshot | undefined,
    suspension: SuspensionWrite | undefined,
    run?: RunWrite,
  ): Promise<void> {
    const { session } = this.begun;
    const write = state && session?.write(state, this.#unchanged);
    if (write === undefined && suspension === undefined && run === undefined) return;
    const receipt = await this.host.store.commit({
      session: write,
      suspension,
      run,
      leases: this.#call.leases,
    });
    if (write !== undefined && receipt.session !== undefined) session?.wrote(write, receipt.session.version);
  }

  /** The state whose values, where the run still has them, leave the session as it is now. */
  get #unchanged(): Snapshot | undefined {
    const { resumed, run, entry } = this.begun;
    if (resumed !== undefined) return resumed.record.is_session_saved ? resumed.paused : undefined;
    return run?.stored === undefined ? undefined : entry;
  }

  /** Ends the recording of the run, as a part of its last write; undefined where nothing was stored. */
  async #endOfRun(): Promise<RunEnd | undefined> {
    const { journal } = this;
    await journal?.end();
    return journal?.isStored === true ? { kind: "end", runId: journal.runId } : undefined;
  }

  /** Saves the session now, after an earlier save has ended; returns false without a session. */
  async saveSession(state: Snapshot): Promise<boolean> {
    if (this.begun.session === undefined) return false;
    const { journal } = this;
    const save = this.#saving.then(() =>
      journal === undefined
        ? this.#commit(state, undefined)
        : journal.saving(this.#listLengths(state), (run) => this.#commit(state, undefined, run)),
    );
    this.#saving = save.catch(() => {});
    await save.catch((cause: unknown) => {
      throw saveError(cause, "session_save_failed", state);
    });
    return true;
  }

  #listLengths(state: Snapshot): Record<string, number> {
    const cells = this.host.sessions.fields.map(([field]) => [field, state.cell(field)] as const);
    return Object.fromEntries(cells.flatMap(([field, cell]) => (isList(cell) ? [[field, cell.length]] : [])));
  }

  #settle(end: InvocationEnd): JsonValue | undefined {
    const result = this.#call.options.settle?.(end);
    const problem = result === undefined ? undefined : jsonProblem(result, { name: "result" });
    if (problem === undefined) return result;
    const message = `settle returned a value that is not JSON: ${problem.message}`;
    throw new GraphError("suspension_persistence_failed", message);
  }

  #endOf(end: Exclude<InvocationEnd, { outcome: "suspended" }>): SuspensionWrite | undefined {
    const { resumed } = this.begun;
    if (resumed === undefined && !this.isRecovered) return undefined;
    const result = this.#settle(end);
    const stored = result === undefined ? { result: null } : { result, isDelivered: false };
    if (resumed !== undefined) {
      const { invocation_id: invocationId, revision: expectedRevision } = resumed.record;
      return { kind: "patch", invocationId, status: end.outcome, expectedRevision, ...stored };
    }
    // A run that never paused has a record only if there is something to deliver.
    if (result === undefined) return undefined;
    return { kind: "put", record: toEndRecord(this, end.outcome, result), expectedRevision: null };
  }

  /** Stores the session and the end of a resumed run, in one write. */
  async complete(state: Snapshot, outcome: Exclude<GraphOutcome, { outcome: "suspended" }>): Promise<void> {
    await this.#saving;
    try {
      const run = await this.#endOfRun();
      await this.#commit(this.#isAutoSaved ? state : undefined, this.#endOf(outcome), run);
    } catch (cause) {
      const code = this.#isAutoSaved ? "session_save_failed" : "suspension_persistence_failed";
      throw saveError(cause, code, state);
    }
  }

  /** Stores what became of a run that failed, was cancelled or is ambiguous. */
  async giveUp(error: unknown): Promise<void> {
    // What could not be recorded is for the process that goes on with the run; nothing is ended here.
    if (this.journal?.isInterrupted === true) return;
    const category = errorCategory(error);
    const isKept = this.#call.options.unfinished !== "end";
    if (category === "invocation_cancelled") {
      // A cancelled pause may be resumed again; one that failed may not.
      if (this.begun.resumed !== undefined || isKept) await this.journal?.flush().catch(() => {});
      else await this.#commit(undefined, undefined, await this.#endOfRun()).catch(() => {});
    } else if (category === "node_ambiguous" && isKept) await this.journal?.flush().catch(() => {});
    else await this.#fail(error);
  }

  /** Stores that a resumed run failed. If that fails, the run stays suspended, and the error of the run counts. */
  async #fail(error: unknown): Promise<void> {
    try {
      const end = { outcome: "errored", error, invocation_id: this.info.invocationId } as const;
      const run = await this.#endOfRun();
      await this.#commit(undefined, this.#endOf(end), run);
    } catch {
      // It may be resumed again.
    }
  }

  /** Stores a pause and the session, in one write. Rejects with `suspension_persistence_failed`. */
  async pause(pause: Pause, state: Snapshot, outcome: GraphOutcome): Promise<void> {
    const { resumed } = this.begun;
    await this.#saving;
    try {
      const record = toRecord(pause, this, this.#isAutoSaved);
      const result = this.#settle(outcome) ?? resumed?.record.result ?? null;
      const put: SuspensionWrite = {
        kind: "put",
        record: { ...record, signal: null, result },
        expectedRevision: resumed?.record.revision ?? null,
        isSignalUnique: this.#call.options.isSignalUnique ?? false,
      };
      await this.#commit(this.#isAutoSaved ? state : undefined, put, await this.#endOfRun());
    } catch (cause) {
      if (GraphError.isInstance(cause) && cause.code === "suspension_persistence_failed") throw cause;
      const details = { cause, namespace: pause.namespace, recoverableState: state.view };
      const message = `the pause cannot be stored: ${thrownMessage(cause)}`;
      throw new GraphError("suspension_persistence_failed", message, details);
    }
  }
}
