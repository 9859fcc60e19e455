import type { Event, EventBody, Thread } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";
import { currentTracer, inOperation, type TracedOperation } from "@harnesskit/wire/trace";
import { ActiveTurn } from "./active-turn.ts";
import { Approvals } from "./approvals.ts";
import type { Connections } from "./connections.ts";
import { isLocked, logChanged, requestConflict, type StoreError, turnBusy, turnNotFound } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import { isAsAsked } from "./pending-questions.ts";
import { planRecovery } from "./plan-recovery.ts";
import { discardThread, readLastTurns } from "./read-log.ts";
import type { RequestName } from "./request-digest.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ThreadState } from "./thread-state.ts";
import type { ThreadLease } from "./thread-store.ts";
import type { TurnRequest } from "./turn-runner.ts";
import { TurnWork } from "./turn-work.ts";

export interface ThreadSessionOptions {
  readonly settings: ServerSettings;
  readonly connections: Connections;
  /** Receives each event after it was stored, in order. */
  readonly onEvent: (event: Event) => void;
  /** Called when a turn has ended and the thread is updated. */
  readonly onTurnOver: (threadId: string) => void;
  /** Called once the thread is held, before anything is written to it. */
  readonly onHeld: (threadId: string, lastSeq: number) => Promise<void>;
}

/** One thread that this server writes: its log, what the log adds up to, and its one active turn. */
export class ThreadSession {
  readonly approvals: Approvals;
  readonly #options: ThreadSessionOptions;
  readonly #lease: ThreadLease;
  readonly #state: ThreadState;
  readonly #log: EventLog;
  #thread: Thread;
  #active: ActiveTurn | undefined;
  #beginning: Promise<void> | undefined;
  /** Settles when the active turn is over and noted. */
  #running: Promise<void> = Promise.resolve();
  /** The end of the last turn, which clients received and which could not be stored. */
  #unstoredEnd: readonly EventBody[] | undefined;
  #isLost = false;

  private constructor(thread: Thread, lease: ThreadLease, state: ThreadState, options: ThreadSessionOptions) {
    this.#thread = thread;
    this.#lease = lease;
    this.#state = state;
    this.#options = options;
    this.approvals = new Approvals(state);
    const { store, clock, flush } = options.settings;
    const onEvent = (event: Event) => {
      state.apply(event);
      options.onEvent(event);
    };
    const { threadId } = thread;
    const onChanged = (error: StoreError) => this.lose(error);
    this.#log = new EventLog({ threadId, store, clock, flush, lastSeq: state.lastSeq, onEvent, onChanged });
  }

  /** Stores a new thread and opens it. */
  static async create(thread: Thread, options: ThreadSessionOptions): Promise<ThreadSession> {
    const { store } = options.settings;
    let session: ThreadSession | undefined;
    try {
      await store.create(thread);
      session = await ThreadSession.#hold(thread, options);
      if (session.lastSeq === 0) await session.#begin();
      return session;
    } catch (error) {
      if (!isLocked(error)) await discardThread(thread, store);
      if (session) await session.#lease.release();
      throw error;
    }
  }

  /**
   * Opens a stored thread. A turn that an earlier server left running is closed with one `turn.error`; one that waits for
   * a human goes on waiting.
   */
  static async open(thread: Thread, options: ThreadSessionOptions): Promise<ThreadSession> {
    const session = await ThreadSession.#hold(thread, options);
    try {
      await session.#recover();
      return session;
    } catch (error) {
      await session.#lease.release();
      throw error;
    }
  }

  static async #hold(thread: Thread, options: ThreadSessionOptions): Promise<ThreadSession> {
    const { store, limits } = options.settings;
    const { maxHistoryLength, maxOpenBytes } = limits;
    const { threadId } = thread;
    const lease = await store.lease(threadId);
    try {
      const state = new ThreadState(maxHistoryLength);
      for (const event of await readLastTurns(store, threadId, maxOpenBytes)) state.apply(event);
      await options.onHeld(threadId, state.lastSeq);
      return new ThreadSession(thread, lease, state, options);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  get thread(): Thread {
    return this.#thread;
  }

  get lastSeq(): number {
    return this.#state.lastSeq;
  }

  get lastTime(): number {
    return this.#state.lastTime;
  }

  /** True if the log was changed from outside: the session must be closed and opened again. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The log was changed from outside. The active turn ends with this error, and nothing more is written. */
  lose(error: StoreError): void {
    this.#isLost = true;
    this.#active?.abandon(error);
  }

  /** Whether another server may have the thread now: nothing runs in it; a turn may wait for a human. */
  get canYield(): boolean {
    return this.#active === undefined || this.#active.isWaiting;
  }

  get isBusy(): boolean {
    return this.#active !== undefined;
  }

  /**
   * Starts a turn and returns once its start is stored. A request that was served before, by its name, returns the turn
   * that it started then, without its `turn`. Throws -32002 when a turn is active, -32005, and what the runner's
   * `accept` throws.
   */
  async startTurn(
    request: TurnRequest,
    name: RequestName | undefined,
  ): Promise<{ readonly turnId: string; readonly turn?: ActiveTurn }> {
    const { settings } = this.#options;
    const repeated = name && (await this.#repeated(name));
    if (repeated !== undefined) return { turnId: repeated };
    if (this.#active) throw turnBusy({ turnId: this.#active.turnId });
    const turnId = settings.createId("turn");
    const operation = currentTracer()?.start("turn", this.#traced(turnId, request));
    const turn = new ActiveTurn({ ...this.#parts(turnId), name, trace: operation?.context });
    this.#active = turn;
    this.#beginning = (async () => {
      await this.#checkDirectory();
      await settings.runner.accept?.(request);
      await this.#storeEnd();
      await turn.begin();
    })();
    try {
      await this.#beginning;
    } catch (error) {
      this.#active = undefined;
      operation?.end(error);
      throw error;
    }
    const work = this.#workOf(turn, request, operation);
    this.#running = inOperation(operation, () => this.#runTurn(turn, work, () => work.begin()));
    return { turnId, turn };
  }

  /** The questions that wait and were asked before this number, for a client that joins behind it. */
  pendingQuestions(beforeOrAt: number): EventBody[] {
    return this.#state.requestedApprovals(beforeOrAt);
  }

  /** Makes sure that an event of the log, as it was just read, shows a waiting question as it was asked. Throws `log_changed`. */
  checkRead(event: Event): void {
    if (!isAsAsked(event, (requestId) => this.approvals.metadata(requestId))) throw logChanged();
  }

  /**
   * Stops the active turn. One that waits for a human would wait again after a restart: this settles when its end
   * is stored. Throws -32003 when no turn is active.
   */
  async cancelTurn(): Promise<void> {
    const turn = this.#active;
    if (!turn) throw turnNotFound();
    if (turn.isWaiting) await turn.cancelAndStore();
    else turn.cancel();
  }

  /** Stops what runs and gives the thread back. A turn that waits for a human is left waiting in the log. */
  async close(): Promise<void> {
    await this.#active?.shutDown();
    await this.#running;
    await this.#storeEnd().catch(this.#options.settings.onError);
    await this.#log.settled();
    await this.#lease.release();
  }

  /** The turn that the request started before. Throws -32005 when it was another request. */
  async #repeated({ clientRequestId, requestDigest }: RequestName): Promise<string | undefined> {
    const active = this.#active?.turn;
    if (active?.clientRequestId === clientRequestId) await this.#beginning?.catch(() => {});
    const started = this.#state.startedRequest(clientRequestId);
    if (started && started.requestDigest !== requestDigest) throw requestConflict();
    return started?.turnId;
  }

  #parts(turnId: string) {
    const { settings } = this.#options;
    return { thread: this.#thread, turnId, log: this.#log, state: this.#state, settings };
  }

  #traced(turnId: string, { agent, input }: TurnRequest, isResumed = false) {
    return { threadId: this.#thread.threadId, turnId, agent: agent.name, isResumed, input };
  }

  #workOf(turn: ActiveTurn, request: TurnRequest, operation?: TracedOperation<"turn">): TurnWork {
    const { settings, connections } = this.#options;
    const { approvals } = this;
    const parts = { thread: this.#thread, state: this.#state, approvals, connections, settings };
    return new TurnWork({ ...parts, turn, request, operation });
  }

  async #runTurn(turn: ActiveTurn, work: TurnWork, run: () => Promise<void>): Promise<void> {
    // The turn does not wait for it.
    const touched = this.#touch();
    await work.run(run);
    await touched;
    this.#unstoredEnd = turn.unstoredEnd;
    this.#active = undefined;
    await this.#touch();
    this.#options.onTurnOver(this.#thread.threadId);
  }

  /** The directory comes from a file that others may have written: it must still be one that a thread may have. */
  async #checkDirectory(): Promise<void> {
    const { directory } = this.#thread;
    const { settings } = this.#options;
    if ((await settings.resolveDirectory(directory)) !== directory) {
      throw invalidParams("The thread's directory is not where it was");
    }
  }

  async #touch(): Promise<void> {
    if (this.#isLost) return;
    const { store, clock, onError } = this.#options.settings;
    const { created } = this.#thread.time;
    this.#thread = { ...this.#thread, time: { created, updated: clock.now() } };
    await store.update(this.#thread).catch(onError);
  }

  async #begin(): Promise<void> {
    const { threadId } = this.#thread;
    await this.#appendAll([{ type: "thread.created", data: { threadId, thread: this.#thread } }]);
  }

  async #appendAll(bodies: readonly EventBody[]): Promise<void> {
    await Promise.all(bodies.map((body) => this.#log.append(body)));
  }

  async #recover(): Promise<void> {
    if (this.lastSeq === 0) await this.#begin();
    const { turn: begun } = this.#state;
    if (!begun) return;
    const plan = await planRecovery(this.#state, this.#options.settings, () => this.#checkDirectory());
    await this.#appendAll(plan.endings);
    if (!plan.waiting) return;
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
  }

  /** Stores the end of the last turn as clients received it, where that could not be done at the time. */
  async #storeEnd(): Promise<void> {
    if (!this.#unstoredEnd || this.#isLost) return;
    await this.#appendAll(this.#unstoredEnd);
    this.#unstoredEnd = undefined;
  }
}
