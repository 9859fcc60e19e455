import type { Event, EventBody, Thread } from "@harnesskit/protocol/threads";
import { ActiveTurn } from "./active-turn.ts";
import type { Approvals } from "./approvals.ts";
import { closeOpenItems } from "./close-open-items.ts";
import { turnBusy, turnNotFound } from "./errors.ts";
import { EventLog } from "./event-log.ts";
import type { ServerSettings } from "./server-settings.ts";
import { ThreadState } from "./thread-state.ts";
import type { ThreadLease } from "./thread-store.ts";
import { ToolCalls } from "./tool-calls.ts";
import { createTurnContext } from "./turn-context.ts";
import type { TurnRequest } from "./turn-runner.ts";

export interface ThreadSessionOptions {
  readonly settings: ServerSettings;
  readonly approvals: Approvals;
  /** Told of each event after it was written, in order. */
  readonly onEvent: (event: Event) => void;
}

/** One thread that this server writes: its log, what the log adds up to, and its one active turn. */
export class ThreadSession {
  readonly #options: ThreadSessionOptions;
  readonly #lease: ThreadLease;
  readonly #state: ThreadState;
  readonly #log: EventLog;
  #thread: Thread;
  #active: ActiveTurn | undefined;
  /** Settles when the active turn is over and noted. */
  #running: Promise<void> = Promise.resolve();

  private constructor(thread: Thread, lease: ThreadLease, state: ThreadState, options: ThreadSessionOptions) {
    this.#thread = thread;
    this.#lease = lease;
    this.#state = state;
    this.#options = options;
    const { store, clock } = options.settings;
    this.#log = new EventLog({
      threadId: thread.threadId,
      store,
      clock,
      lastSeq: state.lastSeq,
      onEvent: (event) => {
        state.apply(event);
        options.onEvent(event);
      },
    });
  }

  /** Opens a new thread; `onWritten` runs when it is stored, before anybody is told. */
  static async create(
    thread: Thread,
    onWritten: () => void,
    options: ThreadSessionOptions,
  ): Promise<ThreadSession> {
    const { store, maxHistoryLength } = options.settings;
    await store.create(thread);
    const lease = await store.lease(thread.threadId);
    const session = new ThreadSession(thread, lease, new ThreadState(maxHistoryLength), options);
    const data = { threadId: thread.threadId, thread };
    await session.#log.append({ type: "thread.created", data }, onWritten);
    return session;
  }

  /** Opens a stored thread. A turn that an earlier server left running is closed with one `turn.error`. */
  static async open(thread: Thread, options: ThreadSessionOptions): Promise<ThreadSession> {
    const { store, maxHistoryLength } = options.settings;
    const lease = await store.lease(thread.threadId);
    try {
      const state = new ThreadState(maxHistoryLength);
      for await (const event of store.events(thread.threadId)) state.apply(event);
      const session = new ThreadSession(thread, lease, state, options);
      await session.#closeInterrupted();
      return session;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  get thread(): Thread {
    return this.#thread;
  }

  /**
   * Starts a turn and returns once it is under way. `onWritten` runs when its start is stored, before anybody is told.
   * Throws -32002 when a turn is active, and what the runner's `accept` throws.
   */
  async startTurn(request: TurnRequest, onWritten: (turnId: string) => void): Promise<ActiveTurn> {
    const { settings } = this.#options;
    if (this.#active) throw turnBusy({ turnId: this.#active.turnId });
    const turnId = settings.createId("turn");
    const parts = { thread: this.#thread, turnId, log: this.#log, state: this.#state, settings };
    const turn = new ActiveTurn(parts);
    this.#active = turn;
    try {
      await settings.runner.accept?.(request);
      await turn.begin(() => onWritten(turnId));
    } catch (error) {
      this.#active = undefined;
      throw error;
    }
    this.#running = this.#runTurn(turn, request);
    return turn;
  }

  /** Tells the active turn to stop. Throws -32003 when none is running. */
  cancelTurn(onAccepted: () => void): void {
    if (!this.#active) throw turnNotFound();
    onAccepted();
    this.#active.cancel();
  }

  /** Stops what runs and gives the thread back. A turn that waits for a human is left waiting in the log. */
  async close(): Promise<void> {
    await this.#active?.shutDown();
    await this.#running;
    await this.#log.settled();
    await this.#lease.release();
  }

  async #runTurn(turn: ActiveTurn, request: TurnRequest): Promise<void> {
    await this.#touch();
    await turn.run(async () => {
      const { settings, approvals } = this.#options;
      const itemId = turn.newId("item");
      const said = { content: [...request.input] };
      await turn.start("user_message", itemId, said);
      await turn.complete("user_message", itemId, said);
      turn.signal.throwIfAborted();
      const names = request.agent.tools;
      const tools = settings.tools.filter(({ name }) => !names || names.includes(name));
      const byName = new Map(tools.map((tool) => [tool.name, tool]));
      const shared = { turn, thread: this.#thread, state: this.#state, settings, approvals };
      const calls = new ToolCalls({ ...shared, tools: byName });
      await settings.runner.run(createTurnContext({ ...shared, request, tools, calls }));
    });
    this.#active = undefined;
    await this.#touch();
  }

  /** Notes that the thread was used. */
  async #touch(): Promise<void> {
    const { store, clock, onError } = this.#options.settings;
    const { created } = this.#thread.time;
    this.#thread = { ...this.#thread, time: { created, updated: clock.now() } };
    await store.update(this.#thread).catch(onError);
  }

  async #closeInterrupted(): Promise<void> {
    const { turn } = this.#state;
    if (!turn) return;
    const error = "The server stopped while the turn was running.";
    const { threadId } = this.#thread;
    const { turnId } = turn;
    const time = { ...turn.time, completed: this.#options.settings.clock.now() };
    const ended: EventBody = {
      type: "turn.error",
      data: { threadId, turnId, error, code: "interrupted", turn: { ...turn, status: "error", time } },
    };
    const bodies = [...closeOpenItems(this.#state.openItems, error, this.#state.history), ended];
    await Promise.all(bodies.map((body) => this.#log.append(body)));
  }
}
