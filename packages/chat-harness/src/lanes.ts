import { type Clock, checkNumber } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { ChatHarnessError } from "./errors.ts";
import type { ChatHarnessLimits } from "./options.ts";

/** How long a caller waits for its turn. */
export interface ChatCallOptions {
  /** Cancels the turn (`turn_cancelled`): it does not begin, or no further node of it does. @default never */
  readonly signal?: AbortSignal | undefined;
  /** Cancels the turn (`turn_timeout`); the time in the queue counts. @default that of the harness */
  readonly timeoutMs?: number | undefined;
}

/** The limits of a harness, and how long its turns may take. */
type LanesOptions = Pick<ChatHarnessLimits, "maxQueuedTurns" | "maxTurns"> & {
  readonly turnTimeoutMs: number | undefined;
  readonly abandonAfterMs: number;
  readonly clock: Clock;
};

/** One call: it aborts with the `ChatHarnessError` that says why. */
interface Scope {
  readonly abort: AbortController;
  isRunning: boolean;
}

/** The calls of one key, of which one runs. */
interface Lane {
  waiting: number;
  /** Settles when the last of them has ended. */
  tail: Promise<unknown>;
}

/** What runs in a lane. It must follow the signal, and the lane is taken until it has settled. */
export type LaneTask<T> = (signal: AbortSignal) => Promise<T>;

/** The lane of a turn: that of its session, or of its invocation if it has no session. */
export const laneOf = (sessionId: string | null, invocationId: string): string =>
  sessionId === null ? `invocation:${invocationId}` : `session:${sessionId}`;

/** Runs tasks of one key one after the other, in the order of the calls, and others at the same time. All queues are bounded. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #options: LanesOptions;
  readonly #scopes = new Set<Scope>();
  #isClosed = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Whether something runs or waits in a lane. */
  isTaken(key: string): boolean {
    return this.#lanes.has(key);
  }

  /**
   * Rejects with `harness_closed`, `harness_busy` or `session_busy` if the task cannot wait, with `turn_cancelled`,
   * `turn_timeout` or `turn_abandoned` if its caller cancelled it, and otherwise as the task does.
   */
  async run<T>(key: string, call: ChatCallOptions, task: LaneTask<T>): Promise<T> {
    const { maxTurns, maxQueuedTurns, turnTimeoutMs, clock } = this.#options;
    const { signal: caller, timeoutMs = turnTimeoutMs } = call;
    if (this.#isClosed) throw new ChatHarnessError("harness_closed", "the harness is closed");
    if (this.#scopes.size >= maxTurns) {
      throw new ChatHarnessError("harness_busy", `maxTurns of ${maxTurns} is reached`);
    }
    const before = this.#lanes.get(key);
    if (before !== undefined && before.waiting >= maxQueuedTurns) {
      throw new ChatHarnessError("session_busy", `maxQueuedTurns of ${maxQueuedTurns} is reached`);
    }
    if (timeoutMs !== undefined) checkNumber("timeoutMs", timeoutMs, { min: 0, allowFraction: true });
    const abort = new AbortController();
    const scope: Scope = { abort, isRunning: false };
    const onAbort = () => {
      const cause: unknown = caller?.reason;
      abort.abort(new ChatHarnessError("turn_cancelled", "the caller cancelled the turn", { cause }));
    };
    const onTimeout = () =>
      abort.abort(new ChatHarnessError("turn_timeout", `the turn took longer than ${timeoutMs} ms`));
    if (caller?.aborted) onAbort();
    else caller?.addEventListener("abort", onAbort, { once: true });
    const stopTimer = timeoutMs === undefined ? undefined : clock.after(timeoutMs, onTimeout, true);
    const lane = before ?? { waiting: 0, tail: Promise.resolve() };
    this.#lanes.set(key, lane);
    this.#scopes.add(scope);
    const done = this.#runBehind(before, scope, task);
    const leave = () => {
      stopTimer?.();
      caller?.removeEventListener("abort", onAbort);
      this.#scopes.delete(scope);
    };
    // A call that is cancelled while it waits leaves at once; those behind it still wait for what runs.
    const tail = Promise.all([before?.tail, done.then(leave, leave)]).then(() => {
      if (lane.tail === tail) this.#lanes.delete(key);
    });
    lane.tail = tail;
    return this.#settleOrAbandon(done, abort.signal);
  }

  async #runBehind<T>(lane: Lane | undefined, scope: Scope, task: LaneTask<T>): Promise<T> {
    const { signal } = scope.abort;
    if (lane !== undefined) {
      lane.waiting++;
      await settleWithin(lane.tail, { name: "the lane", signal });
      lane.waiting--;
    }
    signal.throwIfAborted();
    scope.isRunning = true;
    return task(signal);
  }

  /**
   * The result of a task. A task that was cancelled has `abandonAfterMs` to end: with a result, which counts; with an error, in
   * place of which stands the reason of the cancellation; or not at all, which is `turn_abandoned`.
   */
  async #settleOrAbandon<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, abandonAfterMs } = this.#options;
    const name = "the turn";
    let settled = await settleWithin(task, { name, signal });
    if (settled.status === "cancelled") {
      // What ends at once ends in time.
      const timeoutMs = Math.max(1, abandonAfterMs);
      settled = await settleWithin(task, { name, timeoutMs, clock });
    }
    if (settled.status === "done") return settled.value;
    if (settled.status === "failed") throw signal.aborted ? signal.reason : settled.error;
    const cause = signal.reason as ChatHarnessError;
    const message = `the turn does not end, and keeps its session: ${cause.message}`;
    throw new ChatHarnessError("turn_abandoned", message, { cause });
  }

  /**
   * Refuses further calls, and those that wait, with `harness_closed`; settles when nothing runs. Cancels what runs after `timeoutMs`;
   * rejects with `turn_abandoned` if it does not end. Idempotent.
   */
  async close(timeoutMs = Number.POSITIVE_INFINITY): Promise<void> {
    const { clock, abandonAfterMs } = this.#options;
    this.#isClosed = true;
    const closed = new ChatHarnessError("harness_closed", "the harness was closed");
    for (const { abort, isRunning } of this.#scopes) if (!isRunning) abort.abort(closed);
    const idle = Promise.all([...this.#lanes.values()].map(({ tail }) => tail));
    const isIdleWithin = async (ms: number): Promise<boolean> =>
      (await settleWithin(idle, { name: "close", timeoutMs: ms, clock })).status === "done";
    if (await isIdleWithin(timeoutMs)) return;
    const cause = new ChatHarnessError("turn_cancelled", "the harness was closed");
    for (const { abort } of this.#scopes) abort.abort(cause);
    if (await isIdleWithin(abandonAfterMs)) return;
    const message = `${this.#scopes.size} turns do not end, and keep their sessions`;
    throw new ChatHarnessError("turn_abandoned", message, { cause });
  }
}
