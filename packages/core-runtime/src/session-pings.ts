import {
  BufferFullError,
  type Clock,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  RequestTimeoutError,
} from "@harnesskit/wire";

const maxPings = 16;

/** The pings of one session that wait for their pong. */
export class SessionPings {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Deferred<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for the pong of the ping with this id. Resolves with the milliseconds that it took; rejects with
   * `request_timeout`, or `connection_closed` when the session ends.
   */
  async wait(pingId: string, timeoutMs: number): Promise<number> {
    if (this.#waiting.size >= maxPings) throw new BufferFullError("maxPings", maxPings);
    const sentAt = this.#clock.now();
    const pong = createDeferred<void>();
    this.#waiting.set(pingId, pong);
    const stop = this.#clock.after(timeoutMs, () =>
      pong.reject(new RequestTimeoutError("core.ping", timeoutMs)),
    );
    try {
      await pong.promise;
      return this.#clock.now() - sentAt;
    } finally {
      stop();
      this.#waiting.delete(pingId);
    }
  }

  answered(pingId: string): void {
    this.#waiting.get(pingId)?.resolve();
  }

  close(): void {
    for (const pong of this.#waiting.values()) pong.reject(new ConnectionClosedError());
  }
}
