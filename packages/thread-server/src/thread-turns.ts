import type { EventBody, QueuedTurn, WhenBusy } from "@harnesskit/protocol/threads";
import { invalidParams, ProtocolError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { currentTracer, inOperation, readTraceContext, type TracedOperation } from "@harnesskit/wire/trace";
import { ActiveTurn } from "./active-turn.ts";
import {
  requestConflict,
  type ThreadStoreError,
  TurnError,
  threadArchived,
  turnBusy,
  turnNotFound,
} from "./errors.ts";
import { planRecovery } from "./plan-recovery.ts";
import type { RequestName } from "./request-digest.ts";
import type { StartedTurn, ThreadTurnsOptions } from "./thread-turns-options.ts";
import { TurnQueue } from "./turn-queue.ts";
import type { TurnRequest } from "./turn-runner.ts";
import { TurnWork } from "./turn-work.ts";
import { UnstoredEnd } from "./unstored-end.ts";

/** The turns of one thread: at most one is active, the next ones wait. */
export class ThreadTurns {
  readonly queue: TurnQueue;
  readonly #options: ThreadTurnsOptions;
  #active: ActiveTurn | undefined;
  /** Settles when the start of the prompt is stored that waited and is the active turn now. */
  #beginning: Promise<void> | undefined;
  /** The named requests that are being served: a copy of one waits for it. */
  readonly #starting = new Map<string, Promise<StartedTurn>>();
  /** Settles when the active turn is over and noted. */
  #running: Promise<void> = Promise.resolve();
  readonly #unstoredEnd: UnstoredEnd;
  #isClosed = false;

  constructor(options: ThreadTurnsOptions) {
    this.#options = options;
    this.queue = new TurnQueue({ ...options, active: () => this.#active });
    const onStored = () => {
      this.next();
      options.onTurnOver();
    };
    this.#unstoredEnd = new UnstoredEnd({ ...options, clock: options.settings.clock, onStored });
  }

  get active(): ActiveTurn | undefined {
    return this.#active;
  }

  /**
   * Starts a turn and returns once its start is stored; while another one is active, does what `whenBusy` says. A request
   * that was served before, by its name, returns the turn that it started then, without its `life`. Throws -32002 when a turn is
   * active or the queue is full, -32005, -32006, and what the runner's `accept` throws.
   */
  async start(
    request: TurnRequest,
    name: RequestName | undefined,
    whenBusy: WhenBusy = this.#options.settings.whenBusy,
  ): Promise<StartedTurn> {
    if (!name) return this.#start(request, undefined, whenBusy);
    const { clientRequestId } = name;
    // Looked up again each time: where the start failed, one of the copies that waited takes its place.
    for (let served = this.#served(clientRequestId); served; served = this.#served(clientRequestId))
      await served.catch(() => {});
    const repeated = this.#repeated(name);
    if (repeated) return repeated;
    const starting = this.#start(request, name, whenBusy);
    this.#starting.set(clientRequestId, starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(clientRequestId);
    }
  }

  async #start(
    request: TurnRequest,
    name: RequestName | undefined,
    whenBusy: WhenBusy,
  ): Promise<StartedTurn> {
    if (this.#options.isArchived()) throw threadArchived();
    if (!this.#active && this.queue.size === 0) return this.#startNow(request, name);
    if (whenBusy === "reject") {
      const busy = turnBusy(this.#active ? { turnId: this.#active.turnId } : { reason: "queue_not_empty" });
      this.next();
      throw busy;
    }
    const interrupted = whenBusy === "interrupt" ? this.#active : undefined;
    const { turnId, life } = await this.queue.add(request, name, interrupted?.turnId);
    if (interrupted && interrupted === this.#active) interrupted.cancel();
    this.next();
    return { turnId, position: this.queue.positionOf(turnId), life };
  }

  /**
   * Stops a turn: the active one, or the one with this id, which may wait in the queue. One that waits for a human would wait again
   * after a restart: this settles when its end is stored. Throws -32003 when no such turn is active or waits.
   */
  async cancel(turnId: string | undefined): Promise<void> {
    if (this.hasUnstoredEnd) {
      await this.#unstoredEnd.store();
      // It is over, and not what begins behind it.
      if (turnId === undefined) throw turnNotFound();
    }
    const turn = this.#active;
    if (turn && (turnId === undefined || turn.turnId === turnId)) {
      if (turn.isWaiting) await turn.cancelAndStore();
      else turn.cancel();
      return;
    }
    try {
      if (turnId === undefined || !(await this.queue.remove(turnId, "cancelled"))) throw turnNotFound();
    } finally {
      this.next();
    }
  }

  /** Ends what an earlier server left running, or goes on with it, and begins what waits. */
  async recover(): Promise<void> {
    const { state, settings, checkDirectory } = this.#options;
    const { turn: begun } = state;
    if (begun) {
      const plan = await planRecovery(state, settings, checkDirectory);
      await this.#appendAll(plan.endings);
      if (plan.waiting) {
        const turn = new ActiveTurn({ ...this.#parts(begun.turnId), begun });
        this.#active = turn;
        // The questions can be answered before any client can use the thread.
        // The same trace goes on, and the link says where it was left.
        const { request, pending } = plan.waiting;
        const operation = currentTracer()?.start("turn", this.#traced(turn.turnId, request, true), {
          parent: turn.trace,
          links: [turn.trace],
        });
        const work = this.#workOf(turn, request, operation);
        this.#running = inOperation(operation, () => this.#runTurn(turn, work, work.resume(pending)));
        // The server ended between the two steps of an interruption.
        if (this.queue.waiting.some(({ interrupts }) => interrupts === turn.turnId)) turn.cancel();
      }
    }
    this.next();
  }

  /** Begins what waits, if no turn is active. What cannot begin now waits until the thread is used again. */
  next(): void {
    const { settings, isArchived, isLost, onTurnOver } = this.#options;
    if (this.#active || this.#isClosed || isArchived() || isLost()) return;
    const queued = this.queue.next;
    if (!queued) return;
    const { turnId, clientRequestId, requestDigest, input, model } = queued;
    const agent = settings.agents.find(({ name }) => name === queued.agent);
    const request = { input, agent: agent ?? settings.agents[0], model };
    const parent = readTraceContext(queued._meta);
    const operation = currentTracer()?.start("turn", this.#traced(turnId, request), { parent });
    const name = clientRequestId === undefined ? undefined : defined({ clientRequestId, requestDigest });
    const turn = new ActiveTurn({
      ...this.#parts(turnId),
      name: name as RequestName | undefined,
      trace: operation?.context,
    });
    this.#active = turn;
    const beginning = this.#beginQueued(turn);
    this.#beginning = beginning;
    this.#running = (async () => {
      try {
        await beginning.finally(() => {
          this.#beginning = undefined;
        });
      } catch (error) {
        this.#active = undefined;
        turn.discard();
        operation?.end(error);
        if (!this.#isClosed) settings.onError(error);
        onTurnOver();
        return;
      }
      this.queue.begun(turn);
      const work = this.#workOf(turn, request, operation);
      await inOperation(operation, () =>
        this.#runTurn(turn, work, async () => {
          await this.#checkQueued(queued, request);
          await work.begin();
        }),
      );
    })();
  }

  /** True while the end of the last turn is not stored, and may still be. */
  get hasUnstoredEnd(): boolean {
    return this.#unstoredEnd.isPending;
  }

  /** The log was changed from outside: the active turn ends with this error. */
  abandon(error: ThreadStoreError): void {
    this.#active?.abandon(error);
  }

  /** Stops what runs. A turn that waits for a human is left waiting in the log, and so is what waits in the queue. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#active?.shutDown();
    await this.#running;
    this.queue.close();
    await this.#unstoredEnd.store().catch(this.#options.settings.onError);
    this.#unstoredEnd.close();
  }

  async #appendAll(bodies: readonly EventBody[]): Promise<void> {
    await Promise.all(bodies.map((body) => this.#options.log.append(body)));
  }

  async #startNow(request: TurnRequest, name: RequestName | undefined): Promise<StartedTurn> {
    const { settings, checkDirectory } = this.#options;
    const turnId = settings.createId("turn");
    const operation = currentTracer()?.start("turn", this.#traced(turnId, request));
    const turn = new ActiveTurn({ ...this.#parts(turnId), name, trace: operation?.context });
    this.#active = turn;
    try {
      await checkDirectory();
      await settings.runner.accept?.(request);
      await this.#unstoredEnd.store();
      await turn.begin();
    } catch (error) {
      this.#active = undefined;
      turn.discard();
      operation?.end(error);
      this.next();
      throw error;
    }
    const work = this.#workOf(turn, request, operation);
    this.#running = inOperation(operation, () => this.#runTurn(turn, work, () => work.begin()));
    return { turnId, life: turn };
  }

  /** Stores the start of a prompt that waited: from then on, and not before, it waits no more. */
  async #beginQueued(turn: ActiveTurn): Promise<void> {
    const { log, state } = this.#options;
    await this.#unstoredEnd.store();
    // Whatever is stored before this turn's start and waits behind it is counted.
    while (log.isWriting) await log.settled();
    if (this.#isClosed) throw new TurnError("server_closed", "The server is closing.");
    await turn.begin(state.queue.sinceWithout(turn.turnId));
  }

  /** What was accepted when the prompt came may have changed since. */
  async #checkQueued({ agent }: QueuedTurn, request: TurnRequest): Promise<void> {
    const { settings, checkDirectory } = this.#options;
    try {
      if (agent !== undefined && request.agent.name !== agent) throw invalidParams("Unknown agent");
      await checkDirectory();
      await settings.runner.accept?.(request);
    } catch (cause) {
      if (!ProtocolError.isInstance(cause)) throw cause;
      const message = `The prompt was queued and can no longer be served: ${cause.message}`;
      throw new TurnError("queue.refused", message, { cause });
    }
  }

  /** Settles when the request of this name is served, or its prompt has begun; undefined where nothing of it is under way. */
  #served(clientRequestId: string): Promise<unknown> | undefined {
    const isActive = this.#active?.turn.clientRequestId === clientRequestId;
    return this.#starting.get(clientRequestId) ?? (isActive ? this.#beginning : undefined);
  }

  /** The turn that the request started before. Throws -32005 when it was another request. */
  #repeated({ clientRequestId, requestDigest }: RequestName): StartedTurn | undefined {
    const started = this.#options.state.startedRequest(clientRequestId);
    if (started && started.requestDigest !== requestDigest) throw requestConflict();
    return started && { turnId: started.turnId, position: this.queue.positionOf(started.turnId) };
  }

  #parts(turnId: string) {
    const { settings, log, state, thread } = this.#options;
    return { thread: thread(), turnId, log, state, settings };
  }

  #traced(turnId: string, { agent, input }: TurnRequest, isResumed = false) {
    return { threadId: this.#options.thread().threadId, turnId, agent: agent.name, isResumed, input };
  }

  #workOf(turn: ActiveTurn, request: TurnRequest, operation?: TracedOperation<"turn">): TurnWork {
    const { settings, connections, approvals, state, thread } = this.#options;
    const parts = { thread: thread(), state, approvals, connections, settings };
    return new TurnWork({ ...parts, turn, request, operation });
  }

  async #runTurn(turn: ActiveTurn, work: TurnWork, run: () => Promise<void>): Promise<void> {
    const { touch, onTurnOver } = this.#options;
    const touched = touch();
    await work.run(run);
    // Clients know of the end by now: the thread takes the next prompt at once, however slow the store is.
    this.#unstoredEnd.keep(turn.unstoredEnd);
    this.#active = undefined;
    this.next();
    turn.leave();
    await touched;
    await touch();
    onTurnOver();
  }
}
