import type { EventBody, ThreadMethodName } from "@harnesskit/protocol/threads";
import { ConnectionClosedError, HarnessError, systemClock, type Transport } from "@harnesskit/wire";
import {
  ClientSession,
  type ConnectOptions,
  type ReconnectOptions,
  type RequestOptions,
  resolveReconnect,
  SessionListeners,
  type SessionState,
} from "@harnesskit/wire/rpc";
import type { Clock } from "@harnesskit/wire/time";
import { type Fields, type Initialized, ServerConnection } from "./connection.ts";
import type { CallResult } from "./validation.ts";

export interface ThreadSessionOptions {
  readonly transport: Transport;
  readonly reconnect: false | ReconnectOptions | undefined;
  readonly requestTimeoutMs: number | undefined;
  readonly clock: Clock | undefined;
  readonly onEvent: (event: EventBody) => void;
  readonly onDeleted: (threadId: string) => void;
  readonly onError: (error: HarnessError) => void;
  /** The connection is lost, and another one is being made. */
  readonly onLost: (error: HarnessError) => void;
  /** Introduces the client, and resumes what it followed. What it rejects with fails the attempt. */
  readonly introduce: (connection: ServerConnection, signal: AbortSignal) => Promise<Initialized>;
  /** Called once and last. `inGoodOrder` when either side just closed. */
  readonly onClose: (error: HarnessError, inGoodOrder: boolean) => void;
}

export interface CallOptions extends RequestOptions {
  /** May be sent again when the connection is lost before the answer. @default false */
  readonly repeatable?: boolean | undefined;
}

/** Errors that another attempt cannot mend. */
const isPermanent = (error: unknown): boolean =>
  HarnessError.isInstance(error) && (error.code === "version_mismatch" || error.code === "unsupported");

/** True for the errors of a call whose connection is gone. */
export const isLoss = (error: unknown): error is HarnessError =>
  HarnessError.isInstance(error) && (error.code === "connection_closed" || error.code === "transport_failed");

const toClosed = (error: HarnessError | undefined): HarnessError =>
  error?.code === "connection_closed"
    ? error
    : new ConnectionClosedError(undefined, error && { cause: error });

/** The client session with a thread server: calls wait for a connection, and events come from the current one only. */
export class ThreadSession {
  readonly #options: ThreadSessionOptions;
  readonly #session: ClientSession<ServerConnection, Initialized>;
  readonly #stats = { unknownNotifications: 0, malformedNotifications: 0 };
  readonly #listeners: SessionListeners;
  /** The connection whose events count: open, and perhaps not introduced yet. */
  #current: ServerConnection | undefined;
  #error: HarnessError | undefined;

  /** Throws `invalid_argument`. */
  constructor(options: ThreadSessionOptions) {
    const { reconnect, clock = systemClock, introduce } = options;
    this.#options = options;
    this.#listeners = new SessionListeners(options.onError);
    this.#session = new ClientSession({
      clock,
      reconnect: resolveReconnect(reconnect),
      closesWhenLost: true,
      // Each call of an introduction has its own deadline.
      timeoutMs: () => Number.POSITIVE_INFINITY,
      open: (signal, onOver) => this.#open(signal, onOver),
      introduce: (connection, { signal }) => introduce(connection, signal),
      isFinal: isPermanent,
      onState: (state) => this.#changed(state),
    });
  }

  get state(): SessionState {
    return this.#session.state;
  }

  get stats() {
    return { ...this.#stats, reconnects: this.#session.stats().reconnects };
  }

  get closed() {
    return this.#session.closed;
  }

  /** Why nothing will come any more. */
  get error(): HarnessError | undefined {
    return this.#error;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#listeners.add(listener);
  }

  async connect(options: ConnectOptions): Promise<Initialized> {
    return (await this.#session.connect(options)).introduction;
  }

  /** After a call failed by a loss: settles when there is a connection again, or none will come. */
  async whenSettled(): Promise<void> {
    await this.#session.whenReady().catch(() => {});
  }

  /** While the connection is being replaced, waits for the next one: no longer than `waitMs` of `reconnect`. */
  async whenReconnected(signal: AbortSignal | undefined): Promise<void> {
    if (this.#session.state === "reconnecting") await this.#session.whenReady({ signal });
  }

  /** Calls a method over the connection; while disconnected, over the next one. */
  async call<M extends ThreadMethodName>(
    method: M,
    params: Fields,
    { repeatable = false, ...options }: CallOptions = {},
  ): Promise<CallResult<M>> {
    const { signal } = options;
    for (;;) {
      const { connection } = this.#session.ready ?? (await this.#session.whenReady({ signal }));
      try {
        const result = await connection.call(method, params, options);
        this.#session.confirm(connection);
        return result;
      } catch (error) {
        if (!isLoss(error)) throw error;
        this.#session.drop(connection, error);
        if (!repeatable) throw error;
      }
    }
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<ServerConnection> {
    const { transport, requestTimeoutMs, clock, onEvent, onDeleted, onError } = this.#options;
    const channel = await transport.connect({ signal });
    const ifCurrent =
      <T>(take: (value: T) => void) =>
      (value: T) => {
        if (this.#current !== connection) return;
        if (this.#session.ready) this.#session.confirm(connection);
        take(value);
      };
    const connection: ServerConnection = new ServerConnection(channel, {
      requestTimeoutMs,
      clock,
      stats: this.#stats,
      onEvent: ifCurrent(onEvent),
      onDeleted: ifCurrent(onDeleted),
      onClose: onOver,
      onError,
    });
    this.#current = connection;
    return connection;
  }

  #changed(state: SessionState): void {
    const { error } = this.#session;
    const { onLost, onClose } = this.#options;
    if (state === "reconnecting") {
      this.#current = undefined;
      onLost(toClosed(error));
    } else if (state === "closed") {
      this.#current = undefined;
      this.#error = toClosed(error);
      onClose(this.#error, error === undefined);
    }
    this.#listeners.notify(state);
  }
}
