import type { Event, EventBody, Thread } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";
import { ActiveTurn } from "./active-turn.ts";
import { ApprovalFlow } from "./approval-flow.ts";
import { Approvals, type Response } from "./approvals.ts";
import type { Attendance } from "./attendance.ts";
import { isAsAsked, isStandingIntact, type Standing } from "./check-standing.ts";
import { closeOpenItems, type Ending, endTurn, interrupted, questionChanged } from "./close-open-items.ts";
import { isLocked, logChanged, requestConflict, type StoreError, turnBusy, turnNotFound } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import { PromptJudge } from "./judge-prompt.ts";
import type { RequestName } from "./request-digest.ts";
import type { ServerSettings } from "./server-settings.ts";
import { requestOf, type StandingPrompt, standingCalls, standingPrompt } from "./standing-calls.ts";
import { ThreadState } from "./thread-state.ts";
import type { ThreadLease, ThreadStore } from "./thread-store.ts";
import { ToolCalls } from "./tool-calls.ts";
import { createTurnContext, type TurnContextOptions } from "./turn-context.ts";
import { type ObservedTurn, tell } from "./turn-observer.ts";
import type { TurnRequest } from "./turn-runner.ts";

export interface ThreadSessionOptions {
  readonly settings: ServerSettings;
  readonly attendance: Attendance;
  /** Told of each event after it was written, in order. */
  readonly onEvent: (event: Event) => void;
  /** Told when a turn is over and noted. */
  readonly onTurnOver: (threadId: string) => void;
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
  /** The end of the last turn, where it was told and could not be stored. */
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

  /** Opens a new thread; `onWritten` runs when it is stored, before anybody is told. */
  static async create(
    thread: Thread,
    onWritten: () => void,
    options: ThreadSessionOptions,
  ): Promise<ThreadSession> {
    const { store } = options.settings;
    let session: ThreadSession | undefined;
    try {
      await store.create(thread);
      session = await ThreadSession.#hold(thread, options);
      if (session.lastSeq === 0) await session.#begin(onWritten);
      else onWritten();
      return session;
    } catch (error) {
      if (!isLocked(error)) await discard(thread, store);
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
    const { store, maxHistoryLength, maxOpenBytes } = options.settings;
    const { threadId } = thread;
    const lease = await store.lease(threadId);
    try {
      const state = new ThreadState(maxHistoryLength);
      for (const event of await lastTurns(store, threadId, maxOpenBytes)) state.apply(event);
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

  /** True when the log is no longer the one that this session knows: it is to be given back, and opened anew. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The log was changed from outside. The active turn ends with this error, and nothing more is written. */
  lose(error: StoreError): void {
    this.#isLost = true;
    this.#active?.abandon(error);
  }

  /** True while a turn has not ended. */
  get isBusy(): boolean {
    return this.#active !== undefined;
  }

  /**
   * Starts a turn and returns once it is under way. `onWritten` runs when its start is stored, before anybody is told.
   * A request that was served before, by its name, is answered the same again and starts nothing. Throws -32002 when a
   * turn is active, -32005, and what the runner's `accept` throws.
   */
  async startTurn(
    request: TurnRequest,
    name: RequestName | undefined,
    onWritten: (turnId: string) => void,
  ): Promise<ActiveTurn | undefined> {
    const { settings } = this.#options;
    const repeated = name && (await this.#repeated(name));
    if (repeated !== undefined) {
      onWritten(repeated);
      return undefined;
    }
    if (this.#active) throw turnBusy({ turnId: this.#active.turnId });
    const turnId = settings.createId("turn");
    const turn = new ActiveTurn({ ...this.#parts(turnId), name });
    this.#active = turn;
    this.#beginning = (async () => {
      await this.#checkDirectory();
      await settings.runner.accept?.(request);
      await this.#storeEnd();
      await turn.begin(() => onWritten(turnId));
    })();
    try {
      await this.#beginning;
    } catch (error) {
      this.#active = undefined;
      throw error;
    }
    this.#running = this.#runTurn(turn, request, () => this.#work(turn, request));
    return turn;
  }

  /** The questions that wait and were asked before this number, to be told again to who joins behind it. */
  standingQuestions(beforeOrAt: number): EventBody[] {
    return this.#state.requestedApprovals(beforeOrAt);
  }

  /** Makes sure that an event of the log, as it was just read, shows a waiting question as it was asked. Throws `log_changed`. */
  checkRead(event: Event): void {
    if (!isAsAsked(event, (requestId) => this.approvals.metadata(requestId))) throw logChanged();
  }

  /** Gives a human's answer to a question of this thread. Throws -32004 and -32005. */
  respond(response: Response, onWritten: () => void): Promise<void> {
    return this.approvals.respond(response, onWritten);
  }

  /**
   * Tells the active turn to stop. One that waits for a human would wait again after a restart: there `onAccepted` runs
   * when its end is stored. Throws -32003 when none is running.
   */
  async cancelTurn(onAccepted: () => void): Promise<void> {
    const turn = this.#active;
    if (!turn) throw turnNotFound();
    if (turn.isWaiting) return turn.cancelForGood(onAccepted);
    onAccepted();
    turn.cancel();
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

  async #runTurn(turn: ActiveTurn, request: TurnRequest, work: () => Promise<void>): Promise<void> {
    const { observer, onError } = this.#options.settings;
    const observed = this.#observed(turn, request);
    await this.#touch();
    tell(() => observer.turnStarted?.(observed), onError);
    const ending = await turn.run(work);
    const { usage } = turn;
    if (ending) tell(() => observer.turnEnded?.(observed, { ...ending, ...(usage && { usage }) }), onError);
    this.#unstoredEnd = turn.unstoredEnd;
    this.#active = undefined;
    await this.#touch();
    this.#options.onTurnOver(this.#thread.threadId);
  }

  /** What a turn does: notes what the user said, then runs the agent with what it may have of it. */
  async #work(turn: ActiveTurn, request: TurnRequest): Promise<void> {
    const admitted = await new PromptJudge(this.#judging(turn)).admit(request);
    await this.#runAgent(turn, admitted, this.#toolCalls(turn, request));
  }

  #runAgent(turn: ActiveTurn, request: TurnRequest, calls: ToolCalls): Promise<void> {
    const { runner, observer, onError } = this.#options.settings;
    const observed = this.#observed(turn, request);
    tell(() => observer.agentStarted?.(observed), onError);
    const onResponse: TurnContextOptions["onResponse"] = (message) =>
      tell(() => observer.responded?.(observed, message), onError);
    const shared = { turn, thread: this.#thread, state: this.#state, onResponse };
    return runner.run(createTurnContext({ ...shared, request, calls }));
  }

  #observed({ turnId, isResumed }: ActiveTurn, { agent }: TurnRequest): ObservedTurn {
    const { threadId, directory } = this.#thread;
    return { threadId, turnId, directory, agent: agent.name, isResumed };
  }

  #judging(turn: ActiveTurn) {
    const { settings, attendance } = this.#options;
    const shared = { turn, thread: this.#thread, settings };
    return { ...shared, flow: new ApprovalFlow({ ...shared, approvals: this.approvals, attendance }) };
  }

  #toolCalls(turn: ActiveTurn, { agent }: TurnRequest): ToolCalls {
    const { settings } = this.#options;
    const tools = settings.tools.filter(({ name }) => !agent.tools || agent.tools.includes(name));
    return new ToolCalls({ ...this.#judging(turn), tools });
  }

  /** The directory comes from a file that others may have written: it must still be one that a thread may have. */
  async #checkDirectory(): Promise<void> {
    const { directory } = this.#thread;
    const { settings } = this.#options;
    if ((await settings.resolveDirectory(directory)) !== directory) {
      throw invalidParams("The thread's directory is not where it was");
    }
  }

  /** Notes that the thread was used. */
  async #touch(): Promise<void> {
    if (this.#isLost) return;
    const { store, clock, onError } = this.#options.settings;
    const { created } = this.#thread.time;
    this.#thread = { ...this.#thread, time: { created, updated: clock.now() } };
    await store.update(this.#thread).catch(onError);
  }

  async #begin(onWritten?: () => void): Promise<void> {
    const { threadId } = this.#thread;
    await this.#log.append({ type: "thread.created", data: { threadId, thread: this.#thread } }, onWritten);
  }

  /** Goes on with what an earlier server left behind. */
  async #recover(): Promise<void> {
    if (this.lastSeq === 0) await this.#begin();
    if (!this.#state.turn) return;
    const standing = { calls: standingCalls(this.#state), prompt: standingPrompt(this.#state) };
    const { agents } = this.#options.settings;
    const isStanding = standing.calls.length > 0 || standing.prompt !== undefined;
    const request = isStanding ? requestOf(this.#state.turn.turnId, this.#state, agents) : undefined;
    const inPlace = await this.#checkDirectory().then(
      () => true,
      () => false,
    );
    if (!request || !inPlace) await this.#closeInterrupted(interrupted);
    else if (await isStandingIntact(standing, this.#state)) await this.#waitOn(standing, request);
    else await this.#closeInterrupted(questionChanged);
  }

  /** The turn waits on; answered, it runs what was approved and goes on to its end. What else was open is closed. */
  async #waitOn({ calls: standing, prompt }: Standing, request: TurnRequest): Promise<void> {
    const { turn: begun } = this.#state;
    if (!begun) return;
    const waits = new Set(standing.flatMap(({ question, call }) => [question.itemId, call.itemId]));
    if (prompt) waits.add(prompt.question.itemId).add(prompt.message.itemId);
    const rest = this.#state.openItems.filter(({ item }) => !waits.has(item.itemId));
    const bodies = closeOpenItems(
      rest,
      "The server stopped before this ended.",
      "interrupted",
      this.#state.history,
    );
    await Promise.all(bodies.map((body) => this.#log.append(body)));
    const turn = new ActiveTurn({ ...this.#parts(begun.turnId), begun });
    this.#active = turn;
    const calls = this.#toolCalls(turn, request);
    // The questions stand before anybody can use the thread.
    const answered = Promise.all(
      standing.map(({ question, call }) =>
        calls.resume(call, question, this.#state.wasRequested(question.data.requestId)),
      ),
    );
    answered.catch(() => {});
    const admitted = prompt && this.#admitAgain(turn, prompt, request);
    admitted?.catch(() => {});
    this.#running = this.#runTurn(turn, request, async () => {
      await answered;
      const final = (await admitted) ?? request;
      turn.signal.throwIfAborted();
      await this.#runAgent(turn, final, calls);
    });
  }

  #admitAgain(turn: ActiveTurn, { question, message }: StandingPrompt, request: TurnRequest) {
    const wasRequested = this.#state.wasRequested(question.data.requestId);
    return new PromptJudge(this.#judging(turn)).resume(message, request, question, wasRequested);
  }

  /** Writes the end of a turn that an earlier server left without one. */
  async #closeInterrupted(ending: Ending): Promise<void> {
    const { turn } = this.#state;
    if (!turn) return;
    const time = { ...turn.time, completed: this.#options.settings.clock.now() };
    const bodies = endTurn({ ...turn, status: "error", time }, ending, this.#state);
    await Promise.all(bodies.map((body) => this.#log.append(body)));
  }

  /** Stores the end of the last turn as it was told, where that could not be done at the time. */
  async #storeEnd(): Promise<void> {
    if (!this.#unstoredEnd || this.#isLost) return;
    await Promise.all(this.#unstoredEnd.map((body) => this.#log.append(body)));
    this.#unstoredEnd = undefined;
  }
}

/** Removes a thread whose creation failed, as far as that can be: one that has an event is none of those. */
const discard = async ({ threadId }: Thread, store: ThreadStore): Promise<void> => {
  try {
    if ((await store.lastEvents(threadId, 1)).length === 0) await store.delete(threadId);
  } catch {
    // The next server that opens it completes it.
  }
};

/** The end of the log, back to the start of its last turn at least: so much is needed to go on with that turn. */
const lastTurns = async (store: ThreadStore, threadId: string, maxBytes: number): Promise<Event[]> => {
  for (let bytes = maxBytes; ; bytes *= 4) {
    const events = await store.lastEvents(threadId, bytes);
    if (events.length === 0 || events[0]?.seq === 1) return events;
    if (events.some(({ type }) => type === "turn.started")) return events;
  }
};
