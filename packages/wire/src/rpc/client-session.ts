import type { CloseReason } from "../channel.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import { BufferFullError, ConnectionClosedError, type HarnessError, RequestTimeoutError } from "../errors.ts";
import { backoffDelayMs, wait } from "../time/backoff.ts";
import { within } from "../time/within.ts";
import type {
  ClientSessionOptions,
  ConnectOptions,
  ReadyConnection,
  ReconnectPolicy,
  SessionConnection,
  SessionState,
  SessionWait,
} from "./client-session-options.ts";
import { SharedRun } from "./shared-run.ts";

/**
 * One connection after the other to the same other side, each with the client's introduction, as far as the reconnect policy
 * goes. Knows no protocol: a client gives it `open` and `introduce`, and sends its calls over `ready`.
 */
export class ClientSession<C extends SessionConnection, I> {
  readonly #options: ClientSessionOptions<C, I>;
  readonly #run = new SharedRun<ReadyConnection<C, I>>();
  readonly #closing = new AbortController();
  readonly #closed = createDeferred<CloseReason>();
  #state: SessionState = "new";
  /** The open connection, introduced or not. */
  #connection: C | undefined;
  /** The connection that is being introduced, or was last. */
  #introducing: C | undefined;
  #ready: ReadyConnection<C, I> | undefined;
  #introduction: I | undefined;
  #readyAtMs = 0;
  #lostAtMs = 0;
  /** Attempts in a row. */
  #attempts = 0;
  #reconnects = 0;
  #waiting = 0;
  /** Settles when `connecting` or `reconnecting` is over, however it ends. */
  #settled: Deferred<void> | undefined;
  #error: HarnessError | undefined;

  constructor(options: ClientSessionOptions<C, I>) {
    this.#options = options;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The connection in use; undefined while disconnected. */
  get ready(): ReadyConnection<C, I> | undefined {
    return this.#ready;
  }

  /** What the last introduction that succeeded brought, also after its connection was lost. */
  get introduction(): I | undefined {
    return this.#introduction;
  }

  /** Why there is no connection: the last loss, or why the last attempt failed. */
  get error(): HarnessError | undefined {
    return this.#error;
  }

  /** Settles when the session is closed, with the error that ended it, if one did; never rejects. */
  get closed(): Promise<CloseReason> {
    return this.#closed.promise;
  }

  stats() {
    return { reconnects: this.#reconnects, waitingCalls: this.#waiting };
  }

  /**
   * Opens a connection and introduces the client. Calls at the same time share one attempt. Resolves at once when ready.
   * Rejects with what `open` or `introduce` reject with, `request_timeout`, `request_cancelled` or `connection_closed`;
   * then it can be called again, unless the session is closed.
   */
  async connect(options: ConnectOptions = {}): Promise<ReadyConnection<C, I>> {
    this.#assertOpen();
    if (this.#ready) return this.#ready;
    if (this.#settled) return this.whenReady(options);
    this.#attempts = 0;
    const { reconnect } = this.#options;
    if (!options.retry || !reconnect) return this.#join(options);
    void this.#pursue("connecting", reconnect);
    return this.whenReady(options);
  }

  /**
   * The connection in use, or the next one. Rejects with `connection_closed` when it is disconnected and does not reconnect (its
   * cause says why), with `request_timeout`, `request_cancelled`, or `buffer_full` when too many calls wait.
   */
  async whenReady({ timeoutMs = Number.POSITIVE_INFINITY, signal }: SessionWait = {}) {
    const { clock, maxWaitingCalls = 1024 } = this.#options;
    const deadline = clock.elapsedMs() + timeoutMs;
    while (!this.#ready && this.#settled) {
      const { promise } = this.#settled;
      const leftMs = Math.max(0, Math.min(deadline, this.#waitsUntilMs()) - clock.elapsedMs());
      if (leftMs === 0) throw new RequestTimeoutError("a connection", timeoutMs);
      if (this.#waiting >= maxWaitingCalls) throw new BufferFullError("maxWaitingCalls", maxWaitingCalls);
      this.#waiting++;
      try {
        await within(promise, { clock, name: "a connection", timeoutMs: leftMs, signal });
      } finally {
        this.#waiting--;
      }
    }
    if (this.#ready) return this.#ready;
    this.#assertOpen();
    throw new ConnectionClosedError("there is no connection", { cause: this.#error });
  }

  /**
   * Introduces the client once more over the connection in use, unless that was done meanwhile. The last introduction
   * stays in force when this one fails.
   */
  async renew(ready: ReadyConnection<C, I>, options: SessionWait = {}): Promise<ReadyConnection<C, I>> {
    const { connection } = ready;
    if (this.#ready !== ready) return this.whenReady(options);
    return this.#join(options, (timeoutMs, signal) => this.#introduce(connection, timeoutMs, signal));
  }

  /** A call found out that the connection is of no use. */
  drop(connection: C, error: HarnessError): void {
    if (this.#connection !== connection) return;
    this.#lost(error);
    void connection.close();
  }

  /** The other side has answered over this connection: the attempts are counted anew. */
  confirm(connection: C): void {
    if (this.#connection === connection) this.#attempts = 0;
  }

  /** Closes the connection and settles what waits, at once. Idempotent. With an error, that is the reason. */
  async close(error?: HarnessError): Promise<void> {
    const connection = this.#connection;
    if (this.#state !== "closed") {
      this.#connection = undefined;
      this.#ready = undefined;
      if (error || this.#state !== "lost") this.#error = error;
      this.#closed.resolve(error ? { error } : {});
      this.#to("closed");
      this.#closing.abort();
      this.#run.abort();
    }
    await connection?.close();
  }

  #assertOpen(): void {
    if (this.#state !== "closed") return;
    const { error } = this;
    throw error?.code === "connection_closed"
      ? error
      : new ConnectionClosedError(undefined, { cause: error });
  }

  #waitsUntilMs(): number {
    const { reconnect } = this.#options;
    if (this.#state !== "reconnecting" || !reconnect) return Number.POSITIVE_INFINITY;
    return this.#lostAtMs + reconnect.waitMs;
  }

  async #join(
    options: SessionWait,
    run: (timeoutMs: number, signal: AbortSignal) => Promise<ReadyConnection<C, I>> = (timeoutMs, signal) =>
      this.#attempt(timeoutMs, signal),
  ): Promise<ReadyConnection<C, I>> {
    const { clock } = this.#options;
    const ownMs = this.#options.timeoutMs();
    const { timeoutMs = ownMs, signal } = options;
    const wait = { clock, name: "connecting", timeoutMs, signal };
    try {
      return await this.#run.join((stop) => run(Math.max(timeoutMs, ownMs), stop), wait);
    } catch (error) {
      this.#assertOpen();
      throw this.#toError(error);
    }
  }

  async #attempt(timeoutMs: number, signal: AbortSignal): Promise<ReadyConnection<C, I>> {
    const { clock } = this.#options;
    try {
      return await within((stop) => this.#openAndIntroduce(clock.elapsedMs() + timeoutMs, stop), {
        clock,
        name: "connecting",
        timeoutMs,
        signal,
      });
    } catch (cause) {
      const error = this.#toError(cause) as HarnessError;
      const connection = this.#connection;
      if (this.#state !== "closed") this.#lost(error);
      void connection?.close();
      throw error;
    }
  }

  async #openAndIntroduce(deadline: number, signal: AbortSignal): Promise<ReadyConnection<C, I>> {
    const { open, clock } = this.#options;
    this.#introducing = undefined;
    let connection: C | undefined;
    let ended: HarnessError | undefined;
    const onOver = (error?: HarnessError) => {
      ended = error ?? new ConnectionClosedError();
      if (connection && this.#connection === connection) this.#lost(error);
    };
    connection = await open(signal, onOver);
    if (signal.aborted || ended) {
      void connection.close();
      throw ended ?? new ConnectionClosedError();
    }
    this.#connection = connection;
    this.#introducing = connection;
    return this.#introduce(connection, Math.max(1, deadline - clock.elapsedMs()), signal);
  }

  async #introduce(connection: C, timeoutMs: number, signal: AbortSignal): Promise<ReadyConnection<C, I>> {
    const introduction = await this.#options.introduce(connection, { timeoutMs, signal });
    if (this.#connection !== connection) throw this.#error ?? new ConnectionClosedError();
    const ready = { connection, introduction };
    this.#introduction = introduction;
    this.#ready = ready;
    if (this.#state !== "ready") this.#readyAtMs = this.#options.clock.elapsedMs();
    this.#to("ready");
    return ready;
  }

  #lost(error: HarnessError | undefined): void {
    const { reconnect, clock } = this.#options;
    this.#connection = undefined;
    this.#ready = undefined;
    this.#error = error ?? new ConnectionClosedError();
    if (this.#state !== "ready") return;
    this.#lostAtMs = clock.elapsedMs();
    if (!reconnect) {
      this.#giveUp(error);
      return;
    }
    if (this.#lostAtMs - this.#readyAtMs >= reconnect.maxDelayMs) this.#attempts = 0;
    void this.#pursue("reconnecting", reconnect);
  }

  /** Attempts until one succeeds, or none is left. A first connection is attempted at once. */
  async #pursue(state: "connecting" | "reconnecting", policy: ReconnectPolicy): Promise<void> {
    this.#settled = createDeferred<void>();
    this.#to(state);
    while (this.#attempts < policy.maxAttempts) {
      const isFirst = state === "connecting" && this.#attempts === 0;
      const delayMs = backoffDelayMs(++this.#attempts, policy);
      if (!isFirst) await wait(delayMs, this.#options.clock, this.#closing.signal);
      if (this.#state !== state) return;
      try {
        await this.#join({});
        return;
      } catch (error) {
        if (this.#state !== state) return;
        this.#error = error as HarnessError;
        this.#options.onAttemptFailed?.(this.#error);
        if (this.#options.isFinal?.(error)) break;
      }
    }
    const text = `the connection is lost, and ${this.#attempts} attempts to replace it failed`;
    this.#giveUp(new ConnectionClosedError(text, { cause: this.#error }));
  }

  #giveUp(error: HarnessError | undefined): void {
    if (this.#options.closesWhenLost) void this.close(error);
    else this.#to("lost");
  }

  #toError(error: unknown): unknown {
    return this.#options.toError?.(error, this.#introducing) ?? error;
  }

  #to(state: SessionState): void {
    if (state === this.#state) return;
    if (this.#state === "reconnecting" && state === "ready") this.#reconnects++;
    this.#state = state;
    if (state !== "connecting" && state !== "reconnecting") {
      this.#settled?.resolve();
      this.#settled = undefined;
    }
    this.#options.onState?.(state);
  }
}
