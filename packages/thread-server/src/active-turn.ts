import type { EventBody, ItemData, ItemType, Thread, Turn, Usage } from "@harnesskit/protocol/threads";
import { createDeferred, type Deferred, HarnessError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { readTraceContext, type TraceContext } from "@harnesskit/wire/trace";
import { type Ending, endTurn } from "./close-open-items.ts";
import { isStoreFailure, type ThreadStoreError, TurnError, turnEnded } from "./errors.ts";
import type { EventLog } from "./event-log.ts";
import type { RequestName } from "./request-digest.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadState } from "./thread-state.ts";

export interface ActiveTurnOptions {
  readonly thread: Thread;
  readonly turnId: string;
  readonly log: EventLog;
  readonly state: ThreadState;
  readonly settings: ServerSettings;
  /** The turn as an earlier server began it; undefined for a new one. */
  readonly begun?: Turn | undefined;
  /** The name of the request that starts it. */
  readonly name?: RequestName | undefined;
  /** Where a new turn belongs in a trace. */
  readonly trace?: TraceContext | undefined;
}

/**
 * A turn from its start to its one terminal event. Writes its items, and refuses with `turn_ended` whatever comes
 * after the end.
 */
export class ActiveTurn {
  readonly #options: ActiveTurnOptions;
  readonly #abort = new AbortController();
  readonly #ended = createDeferred<void>();
  readonly #left = createDeferred<void>();
  readonly #started: number;
  #usage: Usage | undefined;
  #closed = false;
  #cancelled = false;
  #waiting = 0;
  /** Resolves when the turn begins to wait for a human; made for those who want to know. */
  #begunWaiting: Deferred<void> | undefined;
  #isEndStored = false;
  /** The events of an end that could not be stored, and why. */
  #unstored: { readonly bodies: readonly EventBody[]; readonly error: unknown } | undefined;
  /** Items whose start was not stored, each with the reason: nothing of them is. */
  readonly #missing = new Map<string, unknown>();

  constructor(options: ActiveTurnOptions) {
    this.#options = options;
    this.#started = options.begun?.time.started ?? options.settings.clock.now();
  }

  get turnId(): string {
    return this.#options.turnId;
  }

  /** True when an earlier server began it. */
  get isResumed(): boolean {
    return this.#options.begun !== undefined;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Settles after the terminal event, or when the turn was left to a later server. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get turn(): Turn {
    const { thread, turnId, begun, name, trace } = this.#options;
    const time = { started: this.#started };
    const meta = trace && { _meta: trace };
    return begun ?? { turnId, threadId: thread.threadId, status: "running", time, ...name, ...meta };
  }

  /** Where the turn began in a trace, perhaps at an earlier server. */
  get trace(): TraceContext | undefined {
    return readTraceContext(this.turn._meta);
  }

  /** Writes `turn.started`, with the number of the oldest prompt that waits behind it. */
  async begin(queuedSince?: number): Promise<void> {
    const { thread, turnId, log } = this.#options;
    const data = defined({ threadId: thread.threadId, turnId, turn: this.turn, queuedSince });
    await log.append({ type: "turn.started", data });
  }

  /** The turn could not begin: nothing of it is in the log. Its thread has another active turn now, or none. */
  discard(): void {
    this.#closed = true;
    this.#ended.resolve();
    this.leave();
  }

  /** The turn is over, and its thread has another active turn now, or none. */
  leave(): void {
    this.#left.resolve();
  }

  /** Runs the turn to its end, and gives it; undefined where it was left to a later server. Never rejects. */
  async run(work: () => Promise<void>): Promise<Ending | undefined> {
    const done = work().then(
      (): Ending => ({ status: "completed" }),
      (error: unknown) => this.#toEnding(error),
    );
    const left = this.ended.then((): Ending => ({ status: "completed" }));
    const watch = this.#watchStop();
    const ending = await Promise.race([done, watch.overdue, left]);
    watch.end();
    if (this.#closed) return undefined;
    // A runner that was told to stop may do so without a word: its turn is not completed.
    const isCut = this.signal.aborted && ending.status !== "error";
    const final = isCut ? this.#toEnding(this.signal.reason) : ending;
    await this.#end(final);
    return final;
  }

  /** What the turn has used so far. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Asks the runner to stop. The turn ends as cancelled, at the latest after the server's `cancelTimeoutMs`. */
  cancel(): void {
    this.#cancelled = true;
    this.#abort.abort(new HarnessError("turn_cancelled", "the turn was cancelled"));
  }

  /** The events of an end that was not stored, which no client has heard of; undefined for any other. */
  get unstoredEnd(): readonly EventBody[] | undefined {
    return this.#unstored?.bodies;
  }

  /** Tells the turn to stop because its log is lost: it ends with this error. */
  abandon(error: ThreadStoreError): void {
    this.#abort.abort(error);
  }

  /** Cancels, and settles when the end is stored. Rejects when it could not be stored. */
  async cancelAndStore(): Promise<void> {
    this.cancel();
    await this.ended;
    if (!this.#isEndStored) throw this.#unstored?.error ?? turnEnded();
  }

  /** Ends the turn because the server closes. What waits for a human is left as it is in the log. */
  async shutDown(): Promise<void> {
    if (this.#waiting > 0) this.#closed = true;
    this.#abort.abort(new TurnError("server_closed", "The server was closed while the turn was running."));
    if (this.#closed) this.#ended.resolve();
    await this.ended;
  }

  /** True while everything that the turn does is waiting for a human. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Settles when the turn waits for a human, or has ended and is not the active one of its thread any more. */
  async whenQuiet(): Promise<void> {
    if (this.isWaiting) return;
    this.#begunWaiting ??= createDeferred<void>();
    await Promise.race([this.#left.promise, this.#begunWaiting.promise]);
  }

  /** Marks the turn as waiting for a human until the promise settles. */
  async waiting<T>(answer: Promise<T>): Promise<T> {
    this.#waiting++;
    this.#begunWaiting?.resolve();
    this.#begunWaiting = undefined;
    try {
      return await answer;
    } finally {
      this.#waiting--;
    }
  }

  addUsage(usage: Usage): void {
    const sum: Usage = { ...this.#usage };
    for (const key of ["inputTokens", "outputTokens", "totalTokens"] as const) {
      const value = usage[key];
      if (value !== undefined) sum[key] = (sum[key] ?? 0) + value;
    }
    this.#usage = sum;
  }

  newId(prefix: string): string {
    return this.#options.settings.createId(prefix);
  }

  /** Writes `item.started`. Rejects with `turn_ended`. */
  start<T extends ItemType>(type: T, itemId: string, data: ItemData<T>): Promise<void> {
    const started = this.append(this.#itemEvent("item.started", type, itemId, data));
    started.catch((error: unknown) => this.#missing.set(itemId, error));
    return started;
  }

  /** Writes `item.delta`, together with what else waits. */
  delta(type: ItemType, itemId: string, delta: string): void {
    const data = { threadId: this.#options.thread.threadId, turnId: this.turnId, itemId, type, delta };
    // A delta that is lost with the disk is reported by the completion of its item, which carries the whole.
    this.append({ type: "item.delta", data }).catch(() => {});
  }

  /** Writes `item.completed` with the item as it is now. */
  complete<T extends ItemType>(type: T, itemId: string, data: ItemData<T>): Promise<void> {
    return this.append(this.#itemEvent("item.completed", type, itemId, data));
  }

  /** Records something that the turn made. Gives the id of its item. */
  async artifact(data: ItemData<"artifact">): Promise<string> {
    const itemId = this.newId("item");
    await this.start("artifact", itemId, data);
    await this.complete("artifact", itemId, data);
    return itemId;
  }

  /** Writes an event of this turn. Rejects with `turn_ended` after its end. */
  append(body: EventBody): Promise<void> {
    if (this.#closed) return Promise.reject(turnEnded());
    const itemId = "itemId" in body.data ? body.data.itemId : undefined;
    if (itemId !== undefined && this.#missing.has(itemId)) return Promise.reject(this.#missing.get(itemId));
    return this.#options.log.append(body);
  }

  #itemEvent<T extends ItemType>(
    event: "item.started" | "item.completed",
    type: T,
    itemId: string,
    data: ItemData<T>,
  ): EventBody {
    const ids = { threadId: this.#options.thread.threadId, turnId: this.turnId, itemId };
    return { type: event, data: { ...ids, type, item: { ...ids, type, data } } } as EventBody;
  }

  /** `overdue` resolves some time after the turn's signal aborts, whether its runner listens or not, until `end`. */
  #watchStop(): { readonly overdue: Promise<Ending>; end(): void } {
    const { clock, limits } = this.#options.settings;
    const overdue = createDeferred<Ending>();
    let stopTimer = () => {};
    const onAbort = () => {
      stopTimer = clock.after(limits.cancelTimeoutMs, () =>
        overdue.resolve(this.#toEnding(this.signal.reason)),
      );
    };
    if (this.signal.aborted) onAbort();
    else this.signal.addEventListener("abort", onAbort, { once: true });
    const end = () => {
      this.signal.removeEventListener("abort", onAbort);
      stopTimer();
    };
    return { overdue: overdue.promise, end };
  }

  #toEnding(error: unknown): Ending {
    if (this.#cancelled) return { status: "cancelled" };
    const cause = this.signal.aborted ? this.signal.reason : error;
    if (TurnError.isInstance(cause) || isStoreFailure(cause)) {
      return { status: "error", error: cause.message, code: cause.code };
    }
    this.#options.settings.onError(error);
    return { status: "error", error: "The agent failed.", code: "agent_failed" };
  }

  async #end(ending: Ending): Promise<void> {
    this.#closed = true;
    const { log, state, settings } = this.#options;
    // Nothing of this turn is written any more but what closes it; tools that still run are aborted.
    if (!this.signal.aborted) this.#abort.abort(turnEnded());
    await log.settled();
    const time = { started: this.#started, completed: settings.clock.now() };
    const usage = this.#usage ? { usage: this.#usage } : {};
    const bodies = endTurn({ ...this.turn, status: ending.status, time, ...usage }, ending, state);
    try {
      await Promise.all(bodies.map((body) => log.append(body)));
      this.#isEndStored = true;
    } catch (error) {
      this.#unstored = { bodies, error };
      settings.onError(error);
    }
    this.#ended.resolve();
  }
}
