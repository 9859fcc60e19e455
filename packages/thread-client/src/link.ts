import type { EventBody } from "@harnesskit/protocol/threads";
import {
  BufferFullError,
  backoffDelayMs,
  type Channel,
  type Clock,
  type CloseReason,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  HarnessError,
  quietly,
  type RequestOptions,
  systemClock,
  type Transport,
  wait,
} from "@harnesskit/wire";
import { Connection } from "./connection.ts";
import type { ReconnectPolicy } from "./reconnect.ts";
import { untilAborted } from "./until-aborted.ts";

/** Whether the server can be reached: `reconnecting` from a loss until everything followed is followed again. */
export type ConnectionState = "connected" | "reconnecting" | "closed";

export interface LinkOptions {
  readonly transport: Transport;
  /** Undefined: the first loss is the end. */
  readonly policy: ReconnectPolicy | undefined;
  readonly requestTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  readonly onEvent: (event: EventBody) => void;
  readonly onDeleted: (threadId: string) => void;
  readonly onError: (error: HarnessError) => void;
  /** The connection is lost, and another one is being made. */
  readonly onLost: (error: HarnessError) => void;
  /** Makes a new connection go on where the last one ended. What it rejects with fails the attempt. */
  readonly resume: (connection: Connection) => Promise<void>;
  /** Called once and last. */
  readonly onClose: (error: HarnessError, reason: CloseReason) => void;
}

export interface CallOptions extends RequestOptions {
  /** May be sent again when the connection is lost before the answer. @default false */
  readonly repeatable?: boolean;
}

/** Calls that may wait for a new connection. */
const maxWaitingCalls = 1024;

/** Errors that another attempt cannot mend. */
const isFinal = (error: unknown): boolean =>
  HarnessError.isInstance(error) && (error.code === "version_mismatch" || error.code === "unsupported");

/** True for the errors of a call whose connection is gone. */
export const isLoss = (error: unknown): boolean =>
  HarnessError.isInstance(error) && (error.code === "connection_closed" || error.code === "transport_failed");

/** One connection after the other, as far as the policy goes. */
export class Link {
  readonly #options: LinkOptions;
  readonly #stats = { unknownNotifications: 0, malformedNotifications: 0 };
  readonly #closed = createDeferred<CloseReason>();
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  readonly #giveUp = new AbortController();
  #connection: Connection | undefined;
  #state: ConnectionState = "connected";
  /** Settles with the end of the reconnecting. */
  #ready: Deferred<void> | undefined;
  #waitingCalls = 0;
  #established = false;
  #closing = false;
  #error: HarnessError | undefined;

  constructor(channel: Channel, options: LinkOptions) {
    this.#options = options;
    this.#connection = this.#open(channel);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get stats() {
    return { ...this.#stats };
  }

  get closed(): Promise<CloseReason> {
    return this.#closed.promise;
  }

  /** Why nothing will come any more. */
  get error(): HarnessError | undefined {
    return this.#error;
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    const entry = (state: ConnectionState) => listener(state);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** The first connection is in use: from now on a loss is mended. */
  establish(): void {
    this.#established = true;
  }

  /** After a call failed by a loss: settles when there is a connection again, or none will come. */
  async overLoss(): Promise<void> {
    if (this.#state === "connected") await this.#connection?.over;
    await this.#ready?.promise.catch(() => {});
  }

  /** Calls a method over the connection, or over the next one while there is none. */
  async call<T>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    parse: (result: unknown) => T,
    { repeatable = false, ...options }: CallOptions = {},
  ): Promise<T> {
    for (;;) {
      while (this.#state === "reconnecting") await this.#whenReady(method, options.signal);
      const connection = this.#connection;
      if (!connection) throw this.#error ?? new ConnectionClosedError();
      try {
        return await connection.call(method, params, parse, options);
      } catch (error) {
        if (!repeatable || !isLoss(error)) throw error;
        // A connection that takes nothing more is over, whether it says so or not.
        void connection.close();
        await connection.over;
        if (this.#error) throw this.#error;
      }
    }
  }

  async close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.#giveUp.abort();
      const error = new ConnectionClosedError();
      if (this.#state === "reconnecting") {
        void this.#connection?.close();
        this.#finish(error, {});
      }
    }
    await this.#connection?.close();
    await this.#closed.promise;
  }

  async #whenReady(method: string, signal: AbortSignal | undefined): Promise<void> {
    const ready = this.#ready?.promise ?? Promise.resolve();
    if (this.#waitingCalls >= maxWaitingCalls) throw new BufferFullError("maxWaitingCalls", maxWaitingCalls);
    this.#waitingCalls++;
    try {
      await (signal ? untilAborted(method, ready, signal) : ready);
    } finally {
      this.#waitingCalls--;
    }
  }

  #open(channel: Channel): Connection {
    const { requestTimeoutMs, clock, onEvent, onDeleted, onError } = this.#options;
    const ifCurrent =
      <T>(take: (value: T) => void) =>
      (value: T) => {
        if (this.#connection === connection) take(value);
      };
    const connection: Connection = new Connection(channel, {
      requestTimeoutMs,
      clock,
      stats: this.#stats,
      onEvent: ifCurrent(onEvent),
      onDeleted: ifCurrent(onDeleted),
      onClose: (error, reason) => {
        if (this.#connection === connection) this.#lost(error, reason);
      },
      onError,
    });
    return connection;
  }

  #lost(error: HarnessError, reason: CloseReason): void {
    const { policy, onLost } = this.#options;
    if (this.#closing || !policy || !this.#established) {
      this.#finish(error, reason);
    } else if (this.#state === "connected") {
      this.#state = "reconnecting";
      this.#ready = createDeferred<void>();
      this.#ready.promise.catch(() => {});
      this.#connection = undefined;
      onLost(error);
      void this.#reconnect(policy, error);
      this.#tell();
    }
  }

  async #reconnect(policy: ReconnectPolicy, lost: HarnessError): Promise<void> {
    let cause: unknown = lost;
    let attempt = 0;
    while (attempt < policy.maxAttempts && !isFinal(cause)) {
      attempt++;
      await wait(backoffDelayMs(attempt, policy), this.#options.clock ?? systemClock, this.#giveUp.signal);
      if (this.#closing) return;
      try {
        await this.#attempt();
        return;
      } catch (error) {
        if (this.#closing) return;
        cause = error;
      }
    }
    const error = new ConnectionClosedError(`the connection is lost: ${attempt} attempts failed`, { cause });
    this.#finish(error, { error });
  }

  async #attempt(): Promise<void> {
    const channel = await this.#options.transport.connect({ signal: this.#giveUp.signal });
    if (this.#closing) {
      void channel.close();
      return;
    }
    const connection = this.#open(channel);
    this.#connection = connection;
    try {
      await this.#options.resume(connection);
      if (connection.isOver) throw new ConnectionClosedError();
    } catch (error) {
      if (this.#connection === connection) this.#connection = undefined;
      void connection.close();
      throw error;
    }
    if (this.#closing) return;
    this.#state = "connected";
    this.#ready?.resolve();
    this.#ready = undefined;
    this.#tell();
  }

  #finish(error: HarnessError, reason: CloseReason): void {
    if (this.#error) return;
    this.#error = error;
    this.#state = "closed";
    this.#ready?.reject(error);
    this.#options.onClose(error, reason);
    this.#closed.resolve(reason);
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) {
      quietly(
        () => listener(this.#state),
        (cause) =>
          this.#options.onError(
            new HarnessError("handler_failed", "a listener of the state failed", { cause }),
          ),
      );
    }
  }
}
