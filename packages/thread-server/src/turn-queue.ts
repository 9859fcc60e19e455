import type { QueuedTurn, WhenBusy } from "@harnesskit/protocol/threads";
import { createDeferred, invalidParams, ProtocolError } from "@harnesskit/wire";
import { readTraceContext } from "@harnesskit/wire/trace";
import type { LeftWork } from "./edit-thread.ts";
import { requestConflict, type ThreadStoreError, TurnError, threadError } from "./errors.ts";
import type { RequestName } from "./named-requests.ts";
import { planRecovery } from "./plan-recovery.ts";
import type { ThreadSession } from "./thread-session.ts";
import { Turn } from "./turn.ts";
import type { TurnRequest } from "./turn-runner.ts";
import { UnstoredEnd } from "./unstored-end.ts";
import { WaitingPrompts } from "./waiting-prompts.ts";

/** A turn that a request started, or a prompt that waits to be one. */
export interface StartedTurn {
  readonly turnId: string;
  /** The place of a prompt that waits, from 1. */
  readonly position?: number | undefined;
}

/** The turns of one thread: at most one is active, the next ones wait. */
export class TurnQueue {
  readonly prompts: WaitingPrompts;
  readonly #session: ThreadSession;
  #active: Turn | undefined;
  /** Settles when the start of the active turn is stored. */
  #beginning: Promise<void> = Promise.resolve();
  /** Settles when the active turn is over and noted. */
  #running: Promise<void> = Promise.resolve();
  /** The named requests that are being served: a copy of one gets its answer. */
  readonly #starting = new Map<string, { readonly digest: string; readonly started: Promise<StartedTurn> }>();
  readonly #unstoredEnd: UnstoredEnd;
  #change = createDeferred<void>();
  /** Whether turns go on and begin: from `recover` until `close`. */
  #isOpen = false;

  constructor(session: ThreadSession) {
    this.#session = session;
    this.prompts = new WaitingPrompts(session);
    this.#unstoredEnd = new UnstoredEnd(session, () => {
      this.next();
      session.onTurnOver();
    });
  }

  /** The active turn, which may be one whose start is being stored. */
  get active(): Turn | undefined {
    return this.#active;
  }

  /** True while the end of the last turn is not stored, and may still be. */
  get hasUnstoredEnd(): boolean {
    return this.#unstoredEnd.isPending;
  }

  /** True for the active turn and for a prompt that waits. */
  has(turnId: string): boolean {
    return this.#active?.turnId === turnId || this.#session.state.queued.has(turnId);
  }

  /** True where such a turn goes on by itself: something runs, and waits for no human. */
  isGoingOn(turnId: string): boolean {
    return this.#isOpen && this.has(turnId) && this.#active?.isWaiting === false;
  }

  /** What a later server must know: also of a turn that is about to begin. */
  get leftWork(): LeftWork {
    const { settings, state } = this.#session;
    const goesOn = settings.interruptedTurns === "retry" || settings.resumeQueues === "never";
    return { queued: this.prompts.stored, hasOpenTurn: goesOn && (this.#active ?? state.turn) !== undefined };
  }

  /** Settles when the active turn begins to wait for a human or ends, another one begins, or a prompt is removed. */
  whenChanged(): Promise<void> {
    return this.#change.promise;
  }

  /** Notes such a change. */
  changed(): void {
    this.#change.resolve();
    this.#change = createDeferred<void>();
  }

  /**
   * Starts a turn and returns once its start is stored; while another one is active, does what `whenBusy` says. A request
   * that was served before, by its name, returns the turn that it started then. Throws -32002 when a turn is
   * active or the queue is full, -32005, -32006, and what the runner's `accept` throws.
   */
  async start(
    request: TurnRequest,
    name: RequestName | undefined,
    whenBusy: WhenBusy = this.#session.settings.whenBusy,
  ): Promise<StartedTurn> {
    if (!name) return this.#start(request, undefined, whenBusy);
    const { clientRequestId, requestDigest: digest } = name;
    const starting = this.#starting.get(clientRequestId);
    const begun = this.#session.state.startedRequest(clientRequestId);
    if ((starting ?? begun) && digest !== (starting?.digest ?? begun?.requestDigest)) throw requestConflict();
    if (starting) return starting.started;
    if (begun) return { turnId: begun.turnId, position: this.prompts.positionOf(begun.turnId) };
    const started = this.#start(request, name, whenBusy);
    this.#starting.set(clientRequestId, { digest, started });
    try {
      return await started;
    } finally {
      this.#starting.delete(clientRequestId);
    }
  }

  /**
   * Stops a turn: the active one, or the one with this id, which may wait in the queue. One that waits for a human would wait again
   * after a restart: this settles when its end is stored. Throws -32003 when no such turn is active or waits.
   */
  async cancel(turnId: string | undefined): Promise<void> {
    if (this.hasUnstoredEnd) {
      await this.#unstoredEnd.store();
      // It is over, and not what begins behind it.
      if (turnId === undefined) throw threadError("turn_not_found");
    }
    const turn = this.#active;
    if (turn && (turnId === undefined || turn.turnId === turnId)) {
      if (turn.isWaiting) await turn.cancelAndStore();
      else turn.cancel();
      return;
    }
    try {
      if (turnId === undefined || !(await this.prompts.remove(turnId, "cancelled")))
        throw threadError("turn_not_found");
    } finally {
      this.next();
    }
  }

  /** Ends what an earlier server left running, or goes on with it, and begins what waits. */
  async recover(): Promise<void> {
    this.#isOpen = true;
    const session = this.#session;
    const { turn: begun } = session.state;
    if (begun) {
      const { endings, goesOn } = await planRecovery(session, begun.turnId);
      await Promise.all(endings.map((body) => session.log.append(body)));
      if (goesOn) {
        const { request, pending, attempt } = goesOn;
        const turn = new Turn(session, begun.turnId, request, { begun });
        this.#active = turn;
        // The questions can be answered before any client can use the thread.
        this.#running = this.#run(turn, pending ? turn.resume(pending) : turn.goOn(attempt));
        // The server ended between the two steps of an interruption.
        if (this.prompts.list.some(({ interrupts }) => interrupts === turn.turnId)) turn.cancel();
      }
    }
    this.next();
  }

  /** Begins what waits, if no turn is active. What cannot begin now waits until the thread is used again. */
  next(): void {
    const session = this.#session;
    if (this.#active || !this.#isOpen || session.isArchived || session.isLost) return;
    const queued = this.prompts.next;
    if (queued) this.#running = this.#runQueued(queued);
  }

  /** The log was changed from outside: the active turn ends with this error. */
  abandon(error: ThreadStoreError): void {
    this.#active?.abandon(error);
  }

  /** Stops what runs. A turn that waits for a human is left waiting in the log, and so is what waits in the queue. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#active?.shutDown();
    await this.#running;
    this.changed();
    await this.#unstoredEnd.store().catch(this.#session.onError);
    this.#unstoredEnd.close();
  }

  async #start(
    request: TurnRequest,
    name: RequestName | undefined,
    whenBusy: WhenBusy,
  ): Promise<StartedTurn> {
    if (this.#session.isArchived) throw threadError("thread_archived");
    if (!this.#active && this.prompts.size === 0) return this.#startNow(request, name);
    if (whenBusy === "reject") {
      const by = this.#active ? { turnId: this.#active.turnId } : { reason: "queue_not_empty" };
      this.next();
      throw threadError("turn_busy", by);
    }
    const interrupted = whenBusy === "interrupt" ? this.#active : undefined;
    const turnId = await this.prompts.add(request, name, interrupted?.turnId);
    if (interrupted && interrupted === this.#active) interrupted.cancel();
    this.next();
    // One that begins at once is answered when its start is stored.
    if (this.#active?.turnId === turnId) await this.#beginning.catch(() => {});
    return { turnId, position: this.prompts.positionOf(turnId) };
  }

  async #startNow(request: TurnRequest, name: RequestName | undefined): Promise<StartedTurn> {
    const session = this.#session;
    const { createId, runner } = session.settings;
    const turn = new Turn(session, createId("turn"), request, { name });
    const begin = async () => {
      await session.checkDirectory();
      await runner.accept?.(request);
      await this.#unstoredEnd.store();
      // First what tells a later server to look into the log, then the log.
      if (this.leftWork.hasOpenTurn) await session.save();
      await turn.begin();
    };
    try {
      await this.#begin(turn, begin);
    } catch (error) {
      this.next();
      throw error;
    }
    this.#running = this.#run(turn, turn.run());
    return { turnId: turn.turnId };
  }

  async #runQueued(queued: QueuedTurn): Promise<void> {
    const session = this.#session;
    const { agents } = session.settings;
    const { turnId, input, model, clientRequestId, requestDigest } = queued;
    const agent = agents.find(({ name }) => name === queued.agent) ?? agents[0];
    const request = { input, agent, model };
    const name = { clientRequestId, requestDigest };
    const turn = new Turn(session, turnId, request, { name, parent: readTraceContext(queued._meta) });
    try {
      await this.#begin(turn, () => this.#beginQueued(turn));
    } catch (error) {
      if (this.#isOpen) turn.onError(error);
      session.onTurnOver();
      return;
    }
    this.changed();
    const check = () => this.#checkQueued(queued, request);
    await this.#run(turn, turn.run(check));
  }

  /** Makes the turn the active one until its end; where its start cannot be stored, nothing of it is in the log, and this rejects. */
  async #begin(turn: Turn, store: () => Promise<void>): Promise<void> {
    this.#active = turn;
    this.#beginning = store();
    try {
      await this.#beginning;
    } catch (error) {
      this.#active = undefined;
      turn.discard(error);
      this.changed();
      throw error;
    }
  }

  /** Rejects with a `TurnError` `queue.refused` where what was accepted when a prompt came is refused now that its turn begins. */
  async #checkQueued({ agent }: QueuedTurn, request: TurnRequest): Promise<void> {
    try {
      if (agent !== undefined && request.agent.name !== agent) throw invalidParams("Unknown agent");
      await this.#session.checkDirectory();
      await this.#session.settings.runner.accept?.(request);
    } catch (cause) {
      if (!ProtocolError.isInstance(cause)) throw cause;
      const message = `The prompt was queued and can no longer be served: ${cause.message}`;
      throw new TurnError("queue.refused", message, { cause });
    }
  }

  /** Stores the start of a prompt that waited: from then on, and not before, it waits no more. */
  async #beginQueued(turn: Turn): Promise<void> {
    const { log, state } = this.#session;
    await this.#unstoredEnd.store();
    // Whatever is stored before this turn's start and waits behind it is counted.
    while (log.isWriting) await log.settled();
    if (!this.#isOpen) throw new TurnError("server_closed", "The server is closing.");
    const behind = [...state.queued.values()].find(({ queued }) => queued.turnId !== turn.turnId);
    await turn.log.begin(behind?.seq);
  }

  /** Notes the end of a turn, and begins the next one. */
  async #run(turn: Turn, ended: Promise<void>): Promise<void> {
    const touched = this.#session.touch();
    await ended;
    // Clients know of the end by now: the thread takes the next prompt at once, however slow the store is.
    this.#unstoredEnd.keep(turn.log.unstored?.bodies);
    this.#active = undefined;
    this.next();
    this.changed();
    await touched;
    await this.#session.touch();
    this.#session.onTurnOver();
  }
}
