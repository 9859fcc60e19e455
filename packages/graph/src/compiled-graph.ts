import { InvalidArgumentError, quietly, systemClock } from "@harnesskit/wire";
import type { Plan } from "./compile/plan.ts";
import type { CompileOptions } from "./compile-options.ts";
import { GraphStream, type StreamOptions } from "./graph-stream.ts";
import type { InvokeOptions } from "./invoke-options.ts";
import { type DrainOptions, type DrainSummary, drainAll, drainOne } from "./observers/drain.ts";
import { EventQueue } from "./observers/event-queue.ts";
import type { NodeEvent, Observer } from "./observers/node-event.ts";
import { type ObserverOptions, toRegistration } from "./observers/observers.ts";
import { type GraphWarning, platformWarning } from "./observers/warn.ts";
import type { GraphOutcome } from "./outcome.ts";
import type { Host } from "./run/host.ts";
import { resume } from "./run/resume.ts";
import { start } from "./run/start.ts";
import { planSessions } from "./sessions/session-plan.ts";
import { readSessionState, type SessionState, type SessionStateOptions } from "./sessions/session-state.ts";
import type { Fields, StateSchema } from "./state/schema.ts";
import { createMemoryStore } from "./stores/memory-store.ts";

const demandCount = (value: number, name: string): number => {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError(`${name} is no integer of at least 1`);
};

/**
 * A graph that was checked and can run, any number of times at once. `F` are the fields of its state, `Inner` the payloads that
 * signals may bring for its subgraphs.
 */
export class CompiledGraph<F extends Fields = Fields, Inner = never> {
  readonly state: StateSchema<F>;
  /** What is odd about the graph and not wrong. */
  readonly warnings: readonly GraphWarning[];
  /** @internal */
  readonly plan: Plan;
  readonly #host: Host;
  readonly #queues = new Set<EventQueue>();

  /** @internal */
  constructor(plan: Plan, warnings: readonly GraphWarning[], options: CompileOptions<F>) {
    this.plan = plan;
    this.state = plan.schema as unknown as StateSchema<F>;
    this.warnings = warnings;
    const { clock = systemClock, onWarning = platformWarning } = options;
    // Whoever is told of warnings cannot stop a run or the delivery of its events.
    const warn = (warning: GraphWarning) => quietly(() => onWarning(warning));
    const maxQueuedEvents = demandCount(options.maxQueuedEvents ?? 100_000, "maxQueuedEvents");
    this.#host = {
      plan,
      sessions: planSessions(plan.schema, options.session as CompileOptions["session"]),
      store: options.store ?? createMemoryStore({ clock }),
      keepsSessions: options.store !== undefined,
      maxSteps: demandCount(options.maxSteps ?? 100_000, "maxSteps"),
      clock,
      createId: options.createId ?? (() => crypto.randomUUID()),
      openQueue: (invocationId, enter) => {
        const onIdle = (queue: EventQueue) => this.#queues.delete(queue);
        const queue = new EventQueue({ invocationId, maxQueuedEvents, onWarning: warn, enter, onIdle });
        this.#queues.add(queue);
        return queue;
      },
    };
  }

  /**
   * Runs the graph, or goes on with a paused run of it. Gives the outcome of a run that ended or suspended; rejects with a
   * {@link GraphError} for one that failed, and with `invalid_argument` for options that cannot be.
   */
  async invoke(options: InvokeOptions<F, Inner> = {}): Promise<GraphOutcome<F>> {
    return this.#run(options as unknown as InvokeOptions);
  }

  /**
   * Begins what {@link invoke} does, and gives its events as they happen: those that an observer without phases gets, in their
   * order, whatever other observers do. See {@link GraphStream} for slow readers and for leaving early. Throws `invalid_argument`
   * for a limit that cannot be used; everything else that is wrong rejects.
   */
  stream(options: InvokeOptions<F, Inner> & StreamOptions = {}): GraphStream<GraphOutcome<F>> {
    const { maxBufferedEvents = 10_000, ...given } = options;
    return new GraphStream<GraphOutcome<F>>({
      maxBufferedEvents: demandCount(maxBufferedEvents, "maxBufferedEvents"),
      signal: given.signal,
      run: (onEvent, signal) => this.#run({ ...given, signal } as unknown as InvokeOptions, onEvent),
    });
  }

  async #run(options: InvokeOptions, onEvent?: (event: NodeEvent) => void): Promise<GraphOutcome<F>> {
    const outcome = await (options.resumeInvocation === undefined
      ? start(this.#host, options, onEvent)
      : resume(this.#host, options, onEvent));
    return outcome as GraphOutcome<F>;
  }

  /**
   * What is known of a session: its state as the next run would load it, what waits for a signal in it, and the states that were
   * saved. Changes nothing. Gives null for a session that is unknown. Rejects with `invalid_argument` without a store and for an
   * empty id, with `session_load_failed`, and with the errors of migrations.
   */
  async getState(sessionId: string, options: SessionStateOptions = {}): Promise<SessionState<F> | null> {
    return (await readSessionState(this.#host, sessionId, options)) as SessionState<F> | null;
  }

  /**
   * Has an observer told of every run of this graph, also as a part of another one, from the next invocation on. Gives what
   * takes it back, likewise from the next one on. Throws `invalid_argument` for phases that are none.
   */
  attach(observer: Observer, options: ObserverOptions = {}): () => void {
    const registration = toRegistration(observer, options);
    this.plan.observers = [...this.plan.observers, registration];
    return () => {
      this.plan.observers = this.plan.observers.filter((other) => other !== registration);
    };
  }

  /**
   * Waits until the invocations that run now have ended and their events are delivered. When the time is over, what is left is
   * given up. Rejects with `invalid_argument` for a time that is none.
   */
  drain(options: DrainOptions = {}): Promise<DrainSummary> {
    return drainAll([...this.#queues], options);
  }

  /**
   * Waits until the events that an invocation has made so far are delivered. Gives nothing up. One that is unknown, or over,
   * has none.
   */
  drainEventsFor(invocationId: string, options: DrainOptions = {}): Promise<DrainSummary> {
    return drainOne(
      [...this.#queues].find((queue) => queue.invocationId === invocationId),
      options,
    );
  }
}
