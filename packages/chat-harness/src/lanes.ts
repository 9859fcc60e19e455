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

/** One call: its signal aborts with the `ChatHarnessError` that says why. */
interface CallScope {
  readonly signal: AbortSignal;
  isRunning: boolean;
  cancel(error: ChatHarnessError): void;
  /** Stops watching the caller and the time. */
  end(): void;
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

/** Settles with the promise, and calls `onAbort` if the signal aborts before that; what it returns stops what it began. */
const watch = async <T>(
  promise: Promise<T>,
  signal: AbortSignal,
  onAbort: (reject: (error: unknown) => void) => () => void,
): Promise<T> => {
  let stop = () => {};
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      stop = onAbort(reject);
    };
  });
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    stop();
  }
};

/** Runs tasks of one key one after the other, in the order of the calls, and others at the same time. All queues are bounded. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #options: LanesOptions;
  readonly #scopes = new Set<CallScope>();
  #isClosed = false;
  #onIdle: (() => void)[] = [];

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
    const { maxTurns, maxQueuedTurns } = this.#options;
    if (this.#isClosed) throw new ChatHarnessError("harness_closed", "the harness is closed");
    if (this.#scopes.size >= maxTurns) {
      throw new ChatHarnessError("harness_busy", `maxTurns of ${maxTurns} is reached`);
    }
    const before = this.#lanes.get(key);
    if (before !== undefined && before.waiting >= maxQueuedTurns) {
      throw new ChatHarnessError("session_busy", `maxQueuedTurns of ${maxQueuedTurns} is reached`);
    }
    const scope = this.#openScope(call);
    const lane = before ?? { waiting: 0, tail: Promise.resolve() };
    this.#lanes.set(key, lane);
    this.#scopes.add(scope);
    const done = this.#runBehind(before, scope, task);
    const leave = () => this.#leave(scope);
    // A call that is cancelled while it waits leaves at once; those behind it still wait for what runs.
    const tail = Promise.all([before?.tail, done.then(leave, leave)]).then(() => {
      if (lane.tail === tail) this.#lanes.delete(key);
    });
    lane.tail = tail;
    return this.#settleOrAbandon(done, scope.signal);
  }

  async #runBehind<T>(lane: Lane | undefined, scope: CallScope, task: LaneTask<T>): Promise<T> {
    const { signal } = scope;
    if (lane !== undefined) {
      lane.waiting++;
      const refuse = (reject: (error: unknown) => void) => {
        reject(signal.reason);
        return () => {};
      };
      await watch(lane.tail, signal, refuse).finally(() => lane.waiting--);
    }
    signal.throwIfAborted();
    scope.isRunning = true;
    return task(signal);
  }

  #leave(scope: CallScope): void {
    scope.end();
    this.#scopes.delete(scope);
    if (this.#scopes.size > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #openScope({ signal, timeoutMs = this.#options.turnTimeoutMs }: ChatCallOptions): CallScope {
    const controller = new AbortController();
    const cancel = (error: ChatHarnessError) => controller.abort(error);
    const onAbort = () => {
      const cause: unknown = signal?.reason;
      cancel(new ChatHarnessError("turn_cancelled", "the caller cancelled the turn", { cause }));
    };
    const onTimeout = () =>
      cancel(new ChatHarnessError("turn_timeout", `the turn took longer than ${timeoutMs} ms`));
    if (timeoutMs !== undefined) checkNumber("timeoutMs", timeoutMs, { min: 0, allowFraction: true });
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const stopTimer =
      timeoutMs === undefined ? () => {} : this.#options.clock.after(timeoutMs, onTimeout, true);
    const end = () => {
      stopTimer();
      signal?.removeEventListener("abort", onAbort);
    };
    return { signal: controller.signal, isRunning: false, cancel, end };
  }

  /**
   * The result of a task. A task that was cancelled has `abandonAfterMs` to end: with a result, which counts; with an error, in
   * place of which stands the reason of the cancellation; or not at all, which is `turn_abandoned`.
   */
  async #settleOrAbandon<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, abandonAfterMs } = this.#options;
    const ended = task.catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
    return watch(ended, signal, (reject) => {
      const cause = signal.reason as ChatHarnessError;
      const message = `the turn does not end, and keeps its session: ${cause.message}`;
      const abandon = () => reject(new ChatHarnessError("turn_abandoned", message, { cause }));
      return clock.after(abandonAfterMs, abandon, true);
    });
  }

  /** Refuses further calls, and those that wait, with `harness_closed`. What runs goes on. Idempotent. */
  close(): void {
    this.#isClosed = true;
    const closed = new ChatHarnessError("harness_closed", "the harness was closed");
    for (const scope of this.#scopes) if (!scope.isRunning) scope.cancel(closed);
  }

  /** Settles when nothing runs. Cancels what runs after `timeoutMs`; rejects with `turn_abandoned` if it does not end. */
  async idle(timeoutMs?: number): Promise<void> {
    if (timeoutMs === undefined) return this.#whenIdle();
    if (await this.#isIdleWithin(timeoutMs)) return;
    const cause = new ChatHarnessError("turn_cancelled", "the harness was closed");
    for (const scope of this.#scopes) scope.cancel(cause);
    if (await this.#isIdleWithin(this.#options.abandonAfterMs)) return;
    const message = `${this.#scopes.size} turns do not end, and keep their sessions`;
    throw new ChatHarnessError("turn_abandoned", message, { cause });
  }

  #whenIdle(): Promise<void> {
    return this.#scopes.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  async #isIdleWithin(timeoutMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const { status } = await settleWithin(this.#whenIdle(), { name: "close", timeoutMs, clock });
    return status === "done";
  }
}
