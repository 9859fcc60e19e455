import { callSafely } from "../call-safely.ts";
import type { CloseReason } from "../channel.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import { ConnectionClosedError, HarnessError } from "../errors.ts";
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
import { withHint } from "./with-hint.ts";

/** One opening and introduction, for all callers that want it. When no caller waits for it any more it is given up. */
interface Attempt<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  callers: number;
}

/**
 * One connection after the other to the same other side, each with the client's introduction, as far as the reconnect
 * policy goes.
 */
export class ReconnectingConnection<C extends SessionConnection, I> {
  protected readonly options: ClientSessionOptions<C, I>;
  readonly #closing = new AbortController();
  readonly #closed = createDeferred<CloseReason>();
  readonly #listeners = new Set<{ readonly notify: (state: SessionState) => void }>();
  #state: SessionState = "new";
  /** The open connection, introduced or not. */
  #connection: C | undefined;
  #introducing: C | undefined;
  #ready: ReadyConnection<C, I> | undefined;
  #introduction: I | undefined;
  #attempt: Attempt<ReadyConnection<C, I>> | undefined;
  /** Settles when `connecting` or `reconnecting` is over, however it ends. */
  #settled: Deferred<void> | undefined;
  #readyAtMs = 0;
  #lostAtMs = 0;
  /** Attempts in a row. */
  #attempts = 0;
  #reconnects = 0;
  #error: HarnessError | undefined;

  constructor(options: ClientSessionOptions<C, I>) {
    this.options = options;
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

  /** Connections that replaced a lost one. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** Calls the listener after each change of the state, until the function that it returns is called. */
  onState(listener: (state: SessionState) => void): () => void {
    const entry = { notify: listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /**
   * Opens a connection and introduces the client. Calls at the same time share one attempt. Resolves at once when ready.
   * Rejects with what `open` or `introduce` reject with, `request_timeout`, `request_cancelled` or `connection_closed`;
   * then it can be called again, unless the session is closed.
   */
  async connect(options: ConnectOptions = {}): Promise<ReadyConnection<C, I>> {
    this.#assertOpen();
    if (this.#ready) return this.#ready;
    if (!this.#settled) {
      this.#attempts = 0;
      const { reconnect } = this.options;
      if (!options.retry || !reconnect) return this.#join(options);
      void this.#pursue("connecting", reconnect);
    }
    return this.whenReady(options);
  }

  /**
   * The connection in use, or the next one. Rejects with `connection_closed` when it is disconnected and does not reconnect (its
   * cause says why), with `request_timeout` or `request_cancelled`.
   */
  async whenReady(options: SessionWait = {}): Promise<ReadyConnection<C, I>> {
    if (this.#ready) return this.#ready;
    try {
      return await this.#nextReady(options);
    } catch (error) {
      throw this.options.toWaitError?.(error) ?? error;
    }
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
      this.#attempt?.stop.abort();
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

  async #nextReady({ timeoutMs = Number.POSITIVE_INFINITY, signal }: SessionWait) {
    const { clock, reconnect } = this.options;
    const deadline = clock.elapsedMs() + timeoutMs;
    while (!this.#ready && this.#settled) {
      const isReplaced = this.#state === "reconnecting" && reconnect !== undefined;
      const until = isReplaced ? Math.min(deadline, this.#lostAtMs + reconnect.waitMs) : deadline;
      const leftMs = Math.max(0, until - clock.elapsedMs());
      await within(this.#settled.promise, { clock, name: "a connection", timeoutMs: leftMs, signal });
    }
    if (this.#ready) return this.#ready;
    this.#assertOpen();
    throw new ConnectionClosedError("there is no connection", { cause: this.#error });
  }

  /** Joins the attempt in progress, or begins one, and waits within the caller's own limits. */
  async #join({ timeoutMs, signal }: SessionWait): Promise<ReadyConnection<C, I>> {
    const { clock } = this.options;
    const ownMs = this.options.timeoutMs();
    const waitMs = timeoutMs ?? ownMs;
    // One that was given up has to end first.
    while (this.#attempt?.stop.signal.aborted) await this.#attempt.result.catch(() => {});
    this.#attempt ??= this.#begin(Math.max(waitMs, ownMs));
    const attempt = this.#attempt;
    attempt.callers++;
    try {
      return await within(attempt.result, { clock, name: "connecting", timeoutMs: waitMs, signal });
    } catch (error) {
      this.#assertOpen();
      throw this.#toError(error);
    } finally {
      if (--attempt.callers === 0 && this.#attempt === attempt) attempt.stop.abort();
    }
  }

  #begin(timeoutMs: number): Attempt<ReadyConnection<C, I>> {
    const { clock } = this.options;
    const stop = new AbortController();
    const deadline = clock.elapsedMs() + timeoutMs;
    const options = { clock, name: "connecting", timeoutMs, signal: stop.signal };
    const result = within((signal) => this.#open(deadline, signal), options)
      .catch((cause: unknown) => {
        const error = this.#toError(cause) as HarnessError;
        const connection = this.#connection;
        this.#introducing = undefined;
        if (this.#state !== "closed") this.#lost(error);
        void connection?.close();
        throw error;
      })
      .finally(() => {
        this.#attempt = undefined;
      });
    result.catch(() => {});
    return { result, stop, callers: 0 };
  }

  async #open(deadline: number, signal: AbortSignal): Promise<ReadyConnection<C, I>> {
    const { open, introduce, clock } = this.options;
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
    const timeoutMs = Math.max(1, deadline - clock.elapsedMs());
    const introduction = await introduce(connection, { timeoutMs, signal });
    if (this.#connection !== connection) throw this.#error ?? new ConnectionClosedError();
    this.#introduction = introduction;
    this.#ready = { connection, introduction };
    this.#readyAtMs = clock.elapsedMs();
    this.#to("ready");
    return this.#ready;
  }

  #lost(error: HarnessError | undefined): void {
    const { reconnect, clock } = this.options;
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
      if (!isFirst) await wait(delayMs, this.options.clock, this.#closing.signal);
      if (this.#state !== state) return;
      try {
        await this.#join({});
        return;
      } catch (error) {
        if (this.#state !== state) return;
        this.#error = error as HarnessError;
        this.options.onAttemptFailed?.(this.#error);
        if (this.options.isFinal?.(error)) break;
      }
    }
    const text = `the connection is lost, and ${this.#attempts} attempts to replace it failed`;
    this.#giveUp(new ConnectionClosedError(text, { cause: this.#error }));
  }

  #giveUp(error: HarnessError | undefined): void {
    if (this.options.closesWhenLost) void this.close(error);
    else this.#to("lost");
  }

  #toError(cause: unknown): unknown {
    const error = withHint(cause, this.#introducing?.hint);
    return this.options.toError?.(error) ?? error;
  }

  #to(state: SessionState): void {
    if (state === this.#state) return;
    if (this.#state === "reconnecting" && state === "ready") this.#reconnects++;
    this.#state = state;
    if (state !== "connecting" && state !== "reconnecting") {
      this.#settled?.resolve();
      this.#settled = undefined;
    }
    this.options.onState?.(state);
    for (const { notify } of [...this.#listeners]) {
      const report = (cause: unknown) =>
        this.options.onListenerFailed?.(
          new HarnessError("handler_failed", "a listener of the state failed", { cause }),
        );
      callSafely(() => notify(state), report);
    }
  }
}
