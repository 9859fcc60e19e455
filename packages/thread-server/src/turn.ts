import type { QueuedTurn, Turn as TurnData, Usage } from "@harnesskit/protocol/threads";
import { backoffDelayMs, createDeferred, HarnessError, wait } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { inSpan, type Span, type TraceContext } from "@harnesskit/wire/trace";
import { addUsage, recordedUsage } from "./add-usage.ts";
import type { Ending } from "./close-open-items.ts";
import { isStoreFailure, type ThreadStoreError, TurnError, turnEnded } from "./errors.ts";
import type { PendingWork } from "./plan-recovery.ts";
import { PromptAdmission } from "./prompt-admission.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadSession } from "./thread-session.ts";
import { ToolCalls } from "./tool-calls.ts";
import { toTurnContext } from "./turn-context.ts";
import { TurnLog } from "./turn-log.ts";
import { endTurnSpan, type ObservedTurn, startTurnSpan } from "./turn-observer.ts";
import type { TurnRequest } from "./turn-runner.ts";

/** How long an interrupted turn that did not get further waits before it goes on again. */
const retryBackoff = { initialDelayMs: 2000, maxDelayMs: 60_000 };

interface TurnOrigin {
  /** The name of the request that starts it. */
  readonly name?: Pick<QueuedTurn, "clientRequestId" | "requestDigest"> | undefined;
  /** Where a prompt that waited belongs in a trace. @default the active span */
  readonly parent?: TraceContext | undefined;
  /** The turn as an earlier server began it. */
  readonly begun?: TurnData | undefined;
}

/**
 * A turn from its start to its one terminal event: records what the user said, runs the agent, and writes its items. Refuses with
 * `turn_ended` whatever comes after the end.
 */
export class Turn {
  readonly threadId: string;
  readonly settings: ServerSettings;
  /** The turn as its start says it. */
  readonly data: TurnData;
  /** True when an earlier server began it. */
  readonly isResumed: boolean;
  readonly observed: ObservedTurn;
  readonly log: TurnLog;
  readonly calls: ToolCalls;
  readonly #prompt: PromptAdmission;
  readonly #span: Span | undefined;
  readonly #abort = new AbortController();
  readonly #ended = createDeferred<void>();
  #usage: Usage | undefined;
  #isCancelled = false;
  #isLeft = false;
  #waiting = 0;

  constructor(
    readonly session: ThreadSession,
    readonly turnId: string,
    readonly request: TurnRequest,
    { name, parent, begun }: TurnOrigin,
  ) {
    const { settings, thread } = session;
    const { threadId, directory } = thread;
    this.threadId = threadId;
    this.settings = settings;
    this.isResumed = begun !== undefined;
    this.observed = { threadId, turnId, directory, agent: request.agent.name, isResumed: this.isResumed };
    this.#span = startTurnSpan(this.observed, request.input, begun, parent);
    const time = { started: settings.clock.now() };
    const made = { turnId, threadId, status: "running" as const, time, ...name, _meta: this.#span?.context };
    this.data = begun ?? defined(made);
    this.log = new TurnLog(session, this.data);
    this.calls = new ToolCalls(this);
    this.#prompt = new PromptAdmission(this, request);
    if (begun) this.#usage = recordedUsage(session.state, turnId);
  }

  /** Reports what failed in this turn, and in a call of which tool. */
  readonly onError = (error: unknown, tool?: string): void => {
    const { threadId, turnId } = this.observed;
    this.settings.onError(error, { threadId, turnId, tool });
  };

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Settles after the terminal event, or when the turn was left to a later server. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** True while everything that the turn does is waiting for a human. */
  get isWaiting(): boolean {
    return this.#waiting > 0 && !this.calls.isRunning;
  }

  /** Writes `turn.started` and the prompt together. Settles when they are stored. */
  begin(): Promise<void> {
    const begun = this.log.begin();
    this.#prompt.record();
    return begun;
  }

  /** The turn could not begin: nothing of it is in the log. */
  discard(error: unknown): void {
    this.log.isClosed = true;
    this.#span?.end(error);
    this.#ended.resolve();
  }

  /** Runs a turn that has begun to its end. Rejects never. `check` may refuse what the agent would be given. */
  run(check?: () => Promise<void>): Promise<void> {
    return this.#run(async () => {
      await check?.();
      await this.#runAgent(await this.#prompt.admit());
    });
  }

  /** Makes the questions of an earlier server answerable at once, and goes on from their answers to the end. Rejects never. */
  resume({ calls, prompt }: PendingWork): Promise<void> {
    return inSpan(this.#span, () => {
      const answered = this.calls.resume(calls);
      const admitted = prompt && this.#prompt.resume(prompt);
      answered.catch(() => {});
      admitted?.catch(() => {});
      return this.#run(async () => {
        await answered;
        const final = (await admitted) ?? this.request;
        this.signal.throwIfAborted();
        await this.#runAgent(final);
      });
    });
  }

  /** Goes on from where an earlier server left it, the sooner the fewer times it has. Rejects never. */
  goOn(attempt = 1): Promise<void> {
    const { clock } = this.settings;
    return this.#run(async () => {
      if (attempt > 1) await wait(backoffDelayMs(attempt - 1, retryBackoff), clock, this.signal);
      this.signal.throwIfAborted();
      await this.#runAgent(await this.#prompt.readmit());
    });
  }

  /** Asks the runner to stop. The turn ends as cancelled, at the latest after the server's `cancelTimeoutMs`. */
  cancel(): void {
    this.#isCancelled = true;
    this.#abort.abort(new HarnessError("turn_cancelled", "the turn was cancelled"));
  }

  /** Cancels, and settles when the end is stored. Rejects when it could not be stored. */
  async cancelAndStore(): Promise<void> {
    this.cancel();
    await this.ended;
    if (!this.log.isEndStored) throw this.log.unstored?.error ?? turnEnded();
  }

  /** Stops the turn because its log is lost: it ends with this error. */
  abandon(error: ThreadStoreError): void {
    this.#abort.abort(error);
  }

  /** Stops the turn because the server closes. What waits for a human is left as it is in the log, and what a later server goes on with. */
  async shutDown(): Promise<void> {
    const isLeft = this.isWaiting;
    this.#isLeft = this.settings.interruptedTurns === "retry";
    if (isLeft) this.log.isClosed = true;
    this.#abort.abort(new TurnError("server_closed", "The server was closed while the turn was running."));
    if (isLeft) this.#ended.resolve();
    await this.ended;
  }

  /** Marks the turn as waiting for a human until the promise settles. */
  async waiting<T>(answer: Promise<T>): Promise<T> {
    this.#waiting++;
    this.session.turns.changed();
    try {
      return await answer;
    } finally {
      this.#waiting--;
    }
  }

  addUsage(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
  }

  async #runAgent(request: TurnRequest): Promise<void> {
    const tools = await this.calls.begin();
    this.signal.throwIfAborted();
    this.settings.observe("agentStarted", this.observed);
    const { runner } = this.settings;
    const context = toTurnContext(this, request, tools);
    await (request.compact ? runner.compact?.(context) : runner.run(context));
  }

  #run(work: () => Promise<void>): Promise<void> {
    return inSpan(this.#span, async () => {
      const { observe } = this.settings;
      observe("turnStarted", this.observed);
      const ending = await this.#runToEnd(work);
      const usage = this.#usage;
      endTurnSpan(this.#span, ending, usage);
      if (ending) observe("turnEnded", this.observed, { ...ending, usage });
    });
  }

  /** How the turn ended; undefined where it was left to a later server. */
  async #runToEnd(work: () => Promise<void>): Promise<Ending | undefined> {
    const done = work().then(
      (): Ending => ({ status: "completed" }),
      (error: unknown) => this.#toEnding(error),
    );
    const left = this.ended.then((): Ending => ({ status: "completed" }));
    const { clock, limits } = this.settings;
    const overdue = createDeferred<Ending>();
    let stopTimer = () => {};
    const watch = () => {
      const giveUp = () => overdue.resolve(this.#toEnding(this.signal.reason));
      stopTimer = clock.after(limits.cancelTimeoutMs, giveUp);
    };
    if (this.signal.aborted) watch();
    else this.signal.addEventListener("abort", watch, { once: true });
    const ending = await Promise.race([done, overdue.promise, left]);
    this.signal.removeEventListener("abort", watch);
    stopTimer();
    if (this.log.isClosed) return undefined;
    if (this.#isLeft && !this.#isCancelled) {
      this.log.isClosed = true;
      this.#ended.resolve();
      return undefined;
    }
    // A runner that was asked to stop may do so without a word: its turn is not completed.
    const isCut = this.signal.aborted && ending.status !== "error";
    return this.#end(isCut ? this.#toEnding(this.signal.reason) : ending);
  }

  #toEnding(error: unknown): Ending {
    if (this.#isCancelled) return { status: "cancelled" };
    const cause = this.signal.aborted ? this.signal.reason : error;
    const ending = endingOf(cause);
    // The client has its sentence; what is behind it, such as what a provider threw, it does not have.
    const isForeign =
      TurnError.isInstance(cause) && cause.cause !== undefined && !HarnessError.isInstance(cause.cause);
    if (ending === agentFailed) this.onError(error);
    else if (isForeign) this.onError(cause);
    return ending;
  }

  async #end(ending: Ending): Promise<Ending> {
    this.log.isClosed = true;
    // Nothing of this turn is written any more but what closes it; tools that still run are aborted.
    if (!this.signal.aborted) this.#abort.abort(turnEnded());
    const isWhole = (end: Ending) => end.status !== "completed" || this.log.failure === undefined;
    let end = isWhole(ending) ? ending : endingOf(this.log.failure);
    await this.log.end(end, this.#usage);
    if (!isWhole(end)) {
      end = endingOf(this.log.failure);
      await this.log.end(end, this.#usage);
    }
    if (this.log.unstored) this.onError(this.log.unstored.error);
    this.#ended.resolve();
    return end;
  }
}

const agentFailed: Ending = { status: "error", error: "The agent failed.", code: "agent_failed" };

/** How a turn ends that failed so, or of which an item could not be stored. */
const endingOf = (error: unknown): Ending =>
  TurnError.isInstance(error) || isStoreFailure(error)
    ? { status: "error", error: error.message, code: error.code }
    : agentFailed;
