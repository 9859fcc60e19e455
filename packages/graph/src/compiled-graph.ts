import {
  callSafely,
  checkNumber,
  InvalidArgumentError,
  randomUuid,
  systemClock,
  warnPlatform,
} from "@harnesskit/wire";
import type { Plan } from "./compile/plan.ts";
import {
  type CompileOptions,
  type GraphErrorContext,
  type GraphWarning,
  graphLimits,
} from "./compile-options.ts";
import { GraphStream, type StreamOptions } from "./graph-stream.ts";
import type { InvokeOptions } from "./invoke-options.ts";
import { type DrainOptions, type DrainSummary, EventQueue } from "./observers/event-queue.ts";
import type { NodeEvent, Observer } from "./observers/node-event.ts";
import { type ObserverOptions, toRegistration } from "./observers/observers.ts";
import { checkInvokeOptions } from "./option-names.ts";
import type { GraphOutcome } from "./outcome.ts";
import type { Host } from "./run/host.ts";
import { invoke } from "./run/invoke.ts";
import { planSessions } from "./sessions/session-plan.ts";
import {
  type GraphSessionState,
  readSessionState,
  type SessionStateOptions,
} from "./sessions/session-state.ts";
import type { Fields, StateSchema } from "./state/schema.ts";
import { createMemoryStore } from "./stores/memory-store.ts";

/**
 * A graph that was checked and can run, any number of times at once. `F` are the fields of its state, `Inner` the payloads that
 * signals may bring for its subgraphs.
 */
export class CompiledGraph<F extends Fields = Fields, Inner = never> {
  readonly state: StateSchema<F>;
  /** Findings about the graph that do not keep it from running. */
  readonly warnings: readonly GraphWarning[];
  /** @internal */
  readonly plan: Plan;
  readonly #host: Host;

  /** @internal */
  constructor(plan: Plan, warnings: readonly GraphWarning[], options: CompileOptions<F>) {
    this.plan = plan;
    this.state = plan.schema as unknown as StateSchema<F>;
    this.warnings = warnings;
    const { clock = systemClock } = options;
    const { onError = (cause, context) => warnPlatform("GraphWarning", { ...context, cause }) } = options;
    const report = (error: unknown, context: GraphErrorContext) => callSafely(() => onError(error, context));
    const { maxSteps, maxQueuedEvents } = graphLimits.resolve(options.limits);
    const { durability = "suspend", store } = options;
    if (durability === "node" && store === undefined) {
      throw new InvalidArgumentError('durability "node" needs a store: compile({ store })');
    }
    if (store !== undefined && typeof store?.commit !== "function") {
      throw new InvalidArgumentError("store must be a GraphStore, such as `await openSqliteStore({ file })`");
    }
    this.#host = {
      plan,
      sessions: planSessions(plan.schema, options.session as CompileOptions["session"]),
      store: store ?? createMemoryStore({ clock }),
      keepsSessions: store !== undefined,
      durability,
      maxSteps,
      clock,
      createId: options.createId ?? randomUuid,
      maxQueuedEvents,
      onError: report,
      queues: new Set(),
    };
  }

  /**
   * Runs the graph, or resumes a paused run. Returns the outcome of a run that ended or suspended; rejects with a
   * {@link GraphError} for one that failed, and with `invalid_argument` for options that are not valid.
   */
  async invoke(options: InvokeOptions<F, Inner> = {}): Promise<GraphOutcome<F>> {
    return this.#run(options as unknown as InvokeOptions);
  }

  /**
   * Starts what {@link invoke} does, and yields its events as they happen: those of an observer of all phases, in their order,
   * independent of other observers. See {@link GraphStream} for slow readers and for leaving early. Throws `invalid_argument` for
   * a limit that is not valid; every other failure rejects.
   */
  stream(options: InvokeOptions<F, Inner> & StreamOptions = {}): GraphStream<GraphOutcome<F>> {
    const { maxBufferedEvents = 10_000, ...given } = options;
    return new GraphStream<GraphOutcome<F>>(
      (onEvent, signal) => this.#run({ ...given, signal } as unknown as InvokeOptions, onEvent),
      given.signal,
      checkNumber("maxBufferedEvents", maxBufferedEvents),
    );
  }

  async #run(options: InvokeOptions, onEvent?: (event: NodeEvent) => void): Promise<GraphOutcome<F>> {
    return (await invoke(this.#host, checkInvokeOptions(options), onEvent)) as GraphOutcome<F>;
  }

  /**
   * Reads a session: its state as the next run would load it, what waits for a signal, and the saved states. Changes nothing.
   * Resolves with null for an unknown session. Rejects with `invalid_argument` without a store and for an
   * empty id, with `session_load_failed`, and with the errors of migrations.
   */
  async getState(sessionId: string, options: SessionStateOptions = {}): Promise<GraphSessionState<F> | null> {
    return (await readSessionState(this.#host, sessionId, options)) as GraphSessionState<F> | null;
  }

  /**
   * Adds an observer of every run of this graph, also as a part of another one, from the next invocation on. Returns a function
   * that removes it, likewise from the next one on. Throws `invalid_argument` for phases that are not valid.
   */
  attach(observer: Observer, options: ObserverOptions = {}): () => void {
    const registration = toRegistration(observer, options);
    this.plan.observers = [...this.plan.observers, registration];
    return () => {
      this.plan.observers = this.plan.observers.filter((other) => other !== registration);
    };
  }

  /**
   * Waits until the invocations that run now have ended and observers have their events. After `timeoutMs`, the remaining events
   * are dropped. Rejects with `invalid_argument` for a time that is not valid.
   */
  drain(options: DrainOptions = {}): Promise<DrainSummary> {
    return EventQueue.drainAll([...this.#host.queues], options);
  }

  /**
   * Waits until observers have the events of an invocation so far, and drops nothing. Resolves at once for an invocation that is
   * unknown or has ended.
   */
  async drainEventsFor(invocationId: string, options: DrainOptions = {}): Promise<DrainSummary> {
    const queue = [...this.#host.queues].find((other) => other.invocationId === invocationId);
    return queue?.drain(options) ?? EventQueue.drainAll([], options);
  }
}
