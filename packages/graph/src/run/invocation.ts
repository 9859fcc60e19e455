import type { CompletedPosition } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { type Clock, type CreateId, HarnessError } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";
import type { Plan } from "../compile/plan.ts";
import { GraphError, type GraphErrorCode, thrownMessage } from "../errors.ts";
import type { InvokeOptions } from "../invoke-options.ts";
import { EventQueue, type EventQueueOptions } from "../observers/event-queue.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import { type Registration, toRegistrations } from "../observers/observers.ts";
import type { GraphOutcome, InvocationEnd } from "../outcome.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";
import type { SessionPlan } from "../sessions/session-plan.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { GraphStore } from "../stores/graph-store.ts";
import type { LeaseProof } from "../stores/lease-store.ts";
import type { StoredSuspension, SuspensionPatch, SuspensionWrite } from "../stores/suspension-store.ts";
import { toRecord } from "../suspension/record.ts";
import { type AmbientScope, runIn } from "./ambient.ts";
import type { InvocationInfo } from "./context.ts";
import { type Pause, unsupported } from "./pause.ts";
import type { Cursor } from "./run-graph.ts";

/** What a compiled graph provides to its invocations. */
export interface Host extends Pick<EventQueueOptions, "maxQueuedEvents" | "onError" | "queues"> {
  readonly plan: Plan;
  readonly sessions: SessionPlan;
  readonly store: GraphStore;
  /** False without a store: then sessions are not kept. */
  readonly keepsSessions: boolean;
  readonly maxSteps: number;
  readonly clock: Clock;
  readonly createId: CreateId;
}

/** Where a resumed invocation continues, its record, and its state before the signal's payload. */
export interface Resumption {
  readonly cursor: Cursor;
  readonly record: StoredSuspension;
  readonly paused: Snapshot;
}

/** What an invocation begins with. */
export interface Beginning {
  readonly info: InvocationInfo;
  readonly session: SessionBinding | undefined;
  readonly entry: Snapshot;
  readonly resumed?: Resumption;
}

/** What the caller of an invocation has given. */
export interface Call {
  readonly options: InvokeOptions;
  /** Leases of the invocation and of its caller. */
  readonly leases: readonly LeaseProof[];
  /** Receives each event as it happens; must not throw. */
  readonly onEvent: ((event: NodeEvent) => void) | undefined;
  /** The observers that were attached to graphs when it was called. */
  readonly attached: ReadonlyMap<Plan, readonly Registration[]>;
}

/** The observers that are attached to a graph and those inside of it. */
export const attachedNow = ({ family }: Plan): Call["attached"] =>
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

/** One run of a graph, with all graphs inside of it: who observes it, how far it is, and what is stored of it. */
export class Invocation implements AmbientScope {
  readonly host: Host;
  readonly info: InvocationInfo;
  readonly begun: Beginning;
  readonly observers: readonly Registration[];
  readonly positions: CompletedPosition[];
  nextStep: number;
  readonly #options: InvokeOptions;
  readonly #leases: readonly LeaseProof[];
  readonly #onEvent: Call["onEvent"];
  /** Undefined without an observer. */
  readonly #events: EventQueue | undefined;
  readonly #attached: Call["attached"];
  #saving: Promise<unknown> = Promise.resolve();

  constructor(host: Host, begun: Beginning, { options, leases, onEvent, attached }: Call) {
    this.host = host;
    this.info = begun.info;
    this.begun = begun;
    this.observers = toRegistrations(options.observers);
    this.positions = [...(begun.resumed?.record.completed_positions ?? [])];
    this.nextStep = begun.resumed?.record.next_step ?? 0;
    this.#options = options;
    this.#leases = leases;
    this.#onEvent = onEvent;
    this.#attached = attached;
    if (this.observers.length + attached.size === 0) return;
    // An observer that suspends is refused like any code outside of a node.
    const enter = (callback: () => void) => runIn(this, callback);
    this.#events = new EventQueue({ ...host, invocationId: this.info.invocationId, enter });
  }

  /** What code outside of a node's body gets. */
  suspend(): never {
    throw unsupported("only the body of a node can suspend");
  }

  /** The observers that were attached to a graph when the invocation began. */
  attachedTo(plan: Plan): readonly Registration[] {
    return this.#attached.get(plan) ?? [];
  }

  /** Whether events of a graph with these attached observers are needed. */
  isObserved(attached: readonly Registration[]): boolean {
    return attached.length + this.observers.length > 0 || this.#onEvent !== undefined;
  }

  report(event: NodeEvent, attached: readonly Registration[]): void {
    this.#onEvent?.(event);
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

  /** Writes the session, if a state is given, and the suspension, if there is one, at once. */
  async #commit(state: Snapshot | undefined, suspension: SuspensionWrite | undefined): Promise<void> {
    const { session, resumed } = this.begun;
    const paused = resumed?.record.is_session_saved === true ? resumed.paused : undefined;
    const write = state && session?.write(state, paused);
    if (write === undefined && suspension === undefined) return;
    const receipt = await this.host.store.commit({
      ...(write === undefined ? {} : { session: write }),
      ...(suspension === undefined ? {} : { suspension }),
      leases: this.#leases,
    });
    if (write !== undefined && receipt.session !== undefined) session?.wrote(write, receipt.session.version);
  }

  /** Saves the session now, after an earlier save has ended; returns false without a session. */
  async saveSession(state: Snapshot): Promise<boolean> {
    if (this.begun.session === undefined) return false;
    const save = this.#saving.then(() => this.#commit(state, undefined));
    this.#saving = save.catch(() => {});
    await save.catch((cause: unknown) => {
      throw saveError(cause, "session_save_failed", state);
    });
    return true;
  }

  #settle(end: InvocationEnd): JsonValue | undefined {
    const result = this.#options.settle?.(end);
    const problem = result === undefined ? undefined : jsonProblem(result, { name: "result" });
    if (problem === undefined) return result;
    const message = `settle returned a value that is not JSON: ${problem.message}`;
    throw new GraphError("suspension_persistence_failed", message);
  }

  #endOf(end: Exclude<InvocationEnd, { outcome: "suspended" }>): SuspensionPatch | undefined {
    const { resumed } = this.begun;
    if (resumed === undefined) return undefined;
    const { invocation_id: invocationId, revision: expectedRevision } = resumed.record;
    const result = this.#settle(end);
    const stored = result === undefined ? { result: null } : { result, isDelivered: false };
    return { kind: "patch", invocationId, status: end.outcome, expectedRevision, ...stored };
  }

  /** Stores the session and the end of a resumed run, in one write. */
  async complete(state: Snapshot, outcome: Exclude<GraphOutcome, { outcome: "suspended" }>): Promise<void> {
    await this.#saving;
    try {
      await this.#commit(this.#isAutoSaved ? state : undefined, this.#endOf(outcome));
    } catch (cause) {
      const code = this.#isAutoSaved ? "session_save_failed" : "suspension_persistence_failed";
      throw saveError(cause, code, state);
    }
  }

  /** Stores that a resumed run failed. If that fails, the run stays suspended, and the error of the run counts. */
  async fail(error: unknown): Promise<void> {
    try {
      await this.#commit(undefined, this.#endOf({ outcome: "errored", error }));
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
      await this.#commit(this.#isAutoSaved ? state : undefined, {
        kind: "put",
        record: { ...record, signal: null, result },
        expectedRevision: resumed?.record.revision ?? null,
        isSignalUnique: this.#options.isSignalUnique ?? false,
      });
    } catch (cause) {
      if (GraphError.isInstance(cause) && cause.code === "suspension_persistence_failed") throw cause;
      const details = { cause, namespace: pause.namespace, recoverableState: state.view };
      const message = `the pause cannot be stored: ${thrownMessage(cause)}`;
      throw new GraphError("suspension_persistence_failed", message, details);
    }
  }
}
