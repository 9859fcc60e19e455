import type { Clock } from "@harnesskit/wire";
import { type CallOptions, CallScope } from "./call-scope.ts";
import { ChatHarnessError } from "./chat-harness-error.ts";

export interface LanesOptions {
  readonly maxQueuedTurns: number;
  readonly maxTurns: number;
  readonly turnTimeoutMs: number | undefined;
  readonly abandonAfterMs: number;
  readonly clock: Clock;
}

interface Lane {
  readonly waiting: Waiter[];
}

interface Waiter {
  begin(): void;
  refuse(error: ChatHarnessError): void;
}

/** What runs in a lane. It has to follow the signal, and the lane is taken until it has settled. */
export type LaneTask<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Runs tasks of the same key one after the other, in the order in which they came, and those of different keys side by
 * side. All queues are bounded.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #options: LanesOptions;
  readonly #running = new Set<CallScope>();
  #count = 0;
  #isClosed = false;
  #onIdle: (() => void)[] = [];

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `harness_closed`, `harness_busy` or `session_busy` where the task cannot wait its turn, with
   * `turn_cancelled` or `turn_timeout` where its caller gave up, and otherwise as the task does.
   */
  async run<T>(key: string, call: CallOptions, task: LaneTask<T>): Promise<T> {
    const { maxTurns, maxQueuedTurns } = this.#options;
    if (this.#isClosed) throw new ChatHarnessError("harness_closed", "the harness is closed");
    if (this.#count >= maxTurns) {
      throw new ChatHarnessError("harness_busy", `maxTurns of ${maxTurns} is reached`);
    }
    const lane = this.#lanes.get(key);
    if (lane !== undefined && lane.waiting.length >= maxQueuedTurns) {
      throw new ChatHarnessError("session_busy", `maxQueuedTurns of ${maxQueuedTurns} is reached`);
    }
    const scope = new CallScope(call, this.#options);
    scope.check();
    this.#count++;
    try {
      if (lane === undefined) this.#lanes.set(key, { waiting: [] });
      else await this.#wait(lane, scope);
    } catch (error) {
      this.#leave(scope);
      throw error;
    }
    this.#running.add(scope);
    const end = (async () => task(scope.signal))().finally(() => {
      this.#running.delete(scope);
      this.#leave(scope);
      this.#next(key);
    });
    return scope.watch(end);
  }

  #wait(lane: Lane, scope: CallScope): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        begin() {
          stop();
          resolve();
        },
        refuse(error) {
          stop();
          reject(error);
        },
      };
      const stop = scope.onGivenUp((error) => {
        lane.waiting.splice(lane.waiting.indexOf(waiter), 1);
        reject(error);
      });
      lane.waiting.push(waiter);
    });
  }

  #next(key: string): void {
    const next = this.#lanes.get(key)?.waiting.shift();
    if (next === undefined) this.#lanes.delete(key);
    else next.begin();
  }

  #leave(scope: CallScope): void {
    scope.end();
    this.#count--;
    if (this.#count > 0) return;
    const told = this.#onIdle;
    this.#onIdle = [];
    for (const tell of told) tell();
  }

  /** Refuses what waits with `harness_closed`, and whatever comes. What runs goes on. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#lanes.values()) {
      for (const waiter of waiting.splice(0)) {
        waiter.refuse(new ChatHarnessError("harness_closed", "the harness was closed"));
      }
    }
  }

  /**
   * Settles when nothing runs. What runs after `timeoutMs` is told to stop; rejects with `turn_abandoned` where it does not
   * within the time that callers give it.
   */
  async idle(timeoutMs?: number): Promise<void> {
    if (timeoutMs === undefined) return this.#whenIdle();
    if (await this.#isIdleWithin(timeoutMs)) return;
    const cause = new ChatHarnessError("turn_cancelled", "the harness was closed");
    for (const scope of [...this.#running]) scope.giveUp(cause);
    if (await this.#isIdleWithin(this.#options.abandonAfterMs)) return;
    const message = `${this.#running.size} turns do not end, and keep their sessions`;
    throw new ChatHarnessError("turn_abandoned", message, { cause });
  }

  #whenIdle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
    });
  }

  #isIdleWithin(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = this.#options.clock.after(timeoutMs, () => resolve(false), true);
      void this.#whenIdle().then(() => {
        stop();
        resolve(true);
      });
    });
  }
}
