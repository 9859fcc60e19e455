import type { Event, EventBody, ItemData, ItemOf, Thread } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";
import { ActiveTurn } from "./active-turn.ts";
import { ApprovalFlow, type StandingQuestion, toStandingQuestion } from "./approval-flow.ts";
import { Approvals, type Response } from "./approvals.ts";
import type { Attendance } from "./attendance.ts";
import { closeOpenItems, endTurn } from "./close-open-items.ts";
import { requestConflict, StoreError, turnBusy, turnNotFound } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ThreadState } from "./thread-state.ts";
import type { ThreadLease, ThreadStore } from "./thread-store.ts";
import { ToolCalls } from "./tool-calls.ts";
import { createTurnContext } from "./turn-context.ts";
import type { TurnRequest } from "./turn-runner.ts";

export interface ThreadSessionOptions {
  readonly settings: ServerSettings;
  readonly attendance: Attendance;
  /** Told of each event after it was written, in order. */
  readonly onEvent: (event: Event) => void;
}

/** A request to start a turn, with the name and the digest that make it safe to send again. */
export interface StartRequest extends TurnRequest {
  readonly clientRequestId?: string;
  readonly requestDigest?: string;
}

type OpenToolCall = ItemOf<"tool_exec"> & { data: ItemData<"tool_exec"> };

/** A call that waits for a human, with its question. */
interface StandingCall {
  readonly question: StandingQuestion;
  readonly call: OpenToolCall;
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
    this.#log = new EventLog({ threadId, store, clock, flush, lastSeq: state.lastSeq, onEvent });
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
      if (!(StoreError.isInstance(error) && error.code === "thread_locked")) await discard(thread, store);
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

  /** True while a turn has not ended. */
  get isBusy(): boolean {
    return this.#active !== undefined;
  }

  /**
   * Starts a turn and returns once it is under way. `onWritten` runs when its start is stored, before anybody is told.
   * A request that was served before, by its `clientRequestId`, is answered the same again and starts nothing. Throws
   * -32002 when a turn is active, -32005, and what the runner's `accept` throws.
   */
  async startTurn(
    request: StartRequest,
    onWritten: (turnId: string) => void,
  ): Promise<ActiveTurn | undefined> {
    const { settings } = this.#options;
    const repeated = await this.#repeated(request);
    if (repeated !== undefined) {
      onWritten(repeated);
      return undefined;
    }
    if (this.#active) throw turnBusy({ turnId: this.#active.turnId });
    const { clientRequestId, requestDigest, ...asked } = request;
    const turnId = settings.createId("turn");
    const named = {
      ...(clientRequestId !== undefined && { clientRequestId }),
      ...(requestDigest !== undefined && { requestDigest }),
    };
    const turn = new ActiveTurn({ ...this.#parts(turnId), ...named });
    this.#active = turn;
    this.#beginning = (async () => {
      await this.#checkDirectory();
      await settings.runner.accept?.(asked);
      if (this.#state.turn) await this.#closeInterrupted(unstoredEnd, "store_failed");
      await turn.begin(() => onWritten(turnId));
    })();
    try {
      await this.#beginning;
    } catch (error) {
      this.#active = undefined;
      throw error;
    }
    this.#running = this.#runTurn(turn, () => this.#work(turn, asked));
    return turn;
  }

  /** The questions that wait and were asked before this number, to be told again to who joins behind it. */
  standingQuestions(beforeOrAt: number): EventBody[] {
    return this.#state.requestedApprovals(beforeOrAt);
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
    await this.#log.settled();
    await this.#lease.release();
  }

  /** The turn that the request started before. Throws -32005 when it was another request. */
  async #repeated({ clientRequestId, requestDigest }: StartRequest): Promise<string | undefined> {
    if (clientRequestId === undefined) return undefined;
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

  async #runTurn(turn: ActiveTurn, work: () => Promise<void>): Promise<void> {
    await this.#touch();
    await turn.run(work);
    this.#active = undefined;
    await this.#touch();
  }

  /** What a turn does: notes what the user said, then runs the agent. */
  async #work(turn: ActiveTurn, request: TurnRequest): Promise<void> {
    const itemId = turn.newId("item");
    const said = { content: [...request.input] };
    await turn.start("user_message", itemId, said);
    await turn.complete("user_message", itemId, { ...said, ...asRequested(request) });
    turn.signal.throwIfAborted();
    await this.#runAgent(turn, request, this.#toolCalls(turn, request));
  }

  #runAgent(turn: ActiveTurn, request: TurnRequest, calls: ToolCalls): Promise<void> {
    const { settings } = this.#options;
    const shared = { turn, thread: this.#thread, state: this.#state };
    return settings.runner.run(
      createTurnContext({ ...shared, request, tools: this.#toolsOf(request), calls }),
    );
  }

  #toolsOf({ agent }: TurnRequest) {
    return this.#options.settings.tools.filter(({ name }) => !agent.tools || agent.tools.includes(name));
  }

  #toolCalls(turn: ActiveTurn, request: TurnRequest): ToolCalls {
    const { settings, attendance } = this.#options;
    const shared = { turn, thread: this.#thread, settings };
    const flow = new ApprovalFlow({ ...shared, approvals: this.approvals, attendance });
    return new ToolCalls({
      ...shared,
      flow,
      tools: new Map(this.#toolsOf(request).map((tool) => [tool.name, tool])),
    });
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
    const standing = this.#standing();
    const request = standing.length > 0 ? this.#requestOf(this.#state.turn.turnId) : undefined;
    const inPlace = await this.#checkDirectory().then(
      () => true,
      () => false,
    );
    if (request && inPlace) await this.#waitOn(standing, request);
    else await this.#closeInterrupted(interruption, "interrupted");
  }

  /** The calls that wait for a human, each with its question. */
  #standing(): StandingCall[] {
    const calls = new Map<string, OpenToolCall>();
    for (const { item } of this.#state.openItems) {
      if (item.type === "tool_exec" && item.data) calls.set(item.itemId, { ...item, data: item.data });
    }
    return this.#state.openApprovals.flatMap((item) => {
      const question = toStandingQuestion(item);
      const call = question?.data.toolItemId === undefined ? undefined : calls.get(question.data.toolItemId);
      return question && call ? [{ question, call }] : [];
    });
  }

  /** What the turn was asked, from its user message; undefined where its agent is no more. */
  #requestOf(turnId: string): TurnRequest | undefined {
    const said = this.#state.history.findLast(
      (item) => item.turnId === turnId && item.type === "user_message",
    );
    if (said?.type !== "user_message" || !said.data) return undefined;
    const { content: input, agent: name, model } = said.data;
    const agent = this.#options.settings.agents.find((profile) => profile.name === name);
    return agent && { input, agent, ...(model !== undefined && { model }) };
  }

  /** The turn waits on; answered, it runs what was approved and goes on to its end. What else was open is closed. */
  async #waitOn(standing: readonly StandingCall[], request: TurnRequest): Promise<void> {
    const { turn: begun } = this.#state;
    if (!begun) return;
    const waits = new Set(standing.flatMap(({ question, call }) => [question.itemId, call.itemId]));
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
    this.#running = this.#runTurn(turn, async () => {
      await answered;
      turn.signal.throwIfAborted();
      await this.#runAgent(turn, request, calls);
    });
  }

  /** Writes the end of a turn that has none. */
  async #closeInterrupted(error: string, code: string): Promise<void> {
    const { turn } = this.#state;
    if (!turn) return;
    const time = { ...turn.time, completed: this.#options.settings.clock.now() };
    const bodies = endTurn({ ...turn, status: "error", time }, { status: "error", error, code }, this.#state);
    await Promise.all(bodies.map((body) => this.#log.append(body)));
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

const interruption = "The server stopped while the turn was running.";
const unstoredEnd = "The end of the turn could not be stored.";

/** The model and agent of a turn, as its user message keeps them for a later server. */
const asRequested = ({ agent, model }: TurnRequest) => ({
  agent: agent.name,
  ...(model !== undefined && { model }),
});

/** The end of the log, back to the start of its last turn at least: so much is needed to go on with that turn. */
const lastTurns = async (store: ThreadStore, threadId: string, maxBytes: number): Promise<Event[]> => {
  for (let bytes = maxBytes; ; bytes *= 4) {
    const events = await store.lastEvents(threadId, bytes);
    if (events.length === 0 || events[0]?.seq === 1) return events;
    if (events.some(({ type }) => type === "turn.started")) return events;
  }
};
