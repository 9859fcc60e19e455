import type { Params } from "@harnesskit/protocol/envelope";
import type { EventBody, ThreadMethodName } from "@harnesskit/protocol/threads";
import { ConnectionClosedError, HarnessError, randomId, systemClock } from "@harnesskit/wire";
import {
  ClientSession,
  type ConnectOptions,
  createPeer,
  type Peer,
  type RequestOptions,
  type RpcConnection,
  resolveReconnect,
  type SessionState,
} from "@harnesskit/wire/rpc";
import { callThreadServer, type Fields, type Initialized, initialize } from "./call-thread-server.ts";
import type { ThreadClientOptions } from "./client-options.ts";
import { MalformedMessageError, UnsupportedError } from "./errors.ts";
import { hasExtension, type ThreadExtension } from "./extensions.ts";
import { type CallResult, parseNotification } from "./validation.ts";

export interface ThreadSessionHandlers {
  readonly onEvent: (event: EventBody) => void;
  readonly onDeleted: (threadId: string) => void;
  readonly onError: (error: HarnessError) => void;
  /** Resumes over a new connection what was followed. What it rejects with fails the attempt. */
  readonly resume: (connection: RpcConnection) => Promise<void>;
  /** The connection is lost, and another one is being made. */
  readonly onLost: (error: HarnessError) => void;
  /** Called once and last. `inGoodOrder` when either side just closed. */
  readonly onClose: (error: HarnessError, inGoodOrder: boolean) => void;
}

export interface CallOptions extends RequestOptions {
  /** May be sent again when the connection is lost before the answer. @default false */
  readonly repeatable?: boolean | undefined;
}

/** What is known of the server before it has answered `initialize`. */
const unknownServer: Initialized = {
  version: "",
  capabilities: { threads: false, turns: false, approvals: false, streaming: false, persistence: false },
};

/** Errors that another attempt cannot mend. */
const isPermanent = (error: unknown): boolean =>
  HarnessError.isInstance(error) && (error.code === "version_mismatch" || error.code === "unsupported");

const toClosed = (error: HarnessError | undefined): HarnessError =>
  error?.code === "connection_closed"
    ? error
    : new ConnectionClosedError(undefined, error && { cause: error });

/** The client session with a thread server: events come from the current connection only. */
export class ThreadSession {
  readonly #client: ThreadClientOptions;
  readonly #handlers: ThreadSessionHandlers;
  readonly #session: ClientSession<Peer, Initialized>;
  readonly #stats = { unknownNotifications: 0, malformedNotifications: 0 };
  /** The connection whose events count: open, and perhaps not introduced yet. */
  #current: Peer | undefined;
  #server = unknownServer;
  #error: HarnessError | undefined;

  /** Throws `invalid_argument`. */
  constructor(client: ThreadClientOptions, handlers: ThreadSessionHandlers) {
    this.#client = client;
    this.#handlers = handlers;
    this.#session = new ClientSession({
      clock: client.clock ?? systemClock,
      reconnect: resolveReconnect(client.reconnect),
      closesWhenLost: true,
      // Each call of an introduction has its own deadline.
      timeoutMs: () => Number.POSITIVE_INFINITY,
      open: (signal, onOver) => this.#open(signal, onOver),
      introduce: (connection, { signal }) => this.#introduce(connection, signal),
      isFinal: isPermanent,
      onState: (state) => this.#changed(state),
      onListenerFailed: handlers.onError,
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

  /** What the server said of itself. */
  get server(): Initialized {
    return this.#server;
  }

  /** Why nothing will come any more. */
  get error(): HarnessError | undefined {
    return this.#error;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#session.onState(listener);
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

  has(extension: ThreadExtension): boolean {
    return hasExtension(this.#server.capabilities, extension);
  }

  /** Throws `unsupported` when the server did not announce the extension. */
  require(extension: ThreadExtension, method: string): void {
    if (!this.has(extension)) throw new UnsupportedError(method, extension);
  }

  /** Calls a method over the connection; while disconnected, over the next one. */
  call<M extends ThreadMethodName>(
    method: M,
    params: Fields,
    { repeatable = false, signal, timeoutMs }: CallOptions = {},
  ): Promise<CallResult<M>> {
    const maxAttempts = repeatable ? Number.POSITIVE_INFINITY : 1;
    return callThreadServer(this.#session, method, params, { signal, timeoutMs, maxAttempts });
  }

  /** Calls a method under a name, where the server knows such names: then it is sent again after a loss. */
  callNamed<M extends ThreadMethodName>(
    method: M,
    fields: Fields,
    given: string | undefined,
    options: RequestOptions = {},
  ): Promise<CallResult<M>> {
    if (given !== undefined) this.require("clientRequestId", method);
    if (!this.has("clientRequestId")) return this.call(method, fields, options);
    const { createId = randomId } = this.#client;
    const clientRequestId = given ?? createId("req");
    return this.call(method, { ...fields, clientRequestId }, { ...options, repeatable: true });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<Peer> {
    const { transport, requestTimeoutMs, clock } = this.#client;
    const peer: Peer = createPeer(
      await transport.connect({ signal }),
      {
        notification: (name, params) => {
          if (this.#current === peer) this.#notified(peer, name, params);
        },
        close: ({ error }) => onOver(error),
        onError: this.#handlers.onError,
      },
      { requestTimeoutMs, clock },
    );
    this.#current = peer;
    return peer;
  }

  /** A server that cannot be followed any more is of no use. */
  async #introduce(peer: Peer, signal: AbortSignal): Promise<Initialized> {
    const followed = this.#server !== unknownServer && this.has("subscribe");
    this.#server = await initialize(peer, this.#client.clientInfo, signal);
    if (followed) this.require("subscribe", "thread.subscribe");
    await this.#handlers.resume(peer);
    return this.#server;
  }

  /** Never throws for what came from outside: a malformed notification is reported, and the connection stays. */
  #notified(peer: Peer, name: string, params: Params | undefined): void {
    const { onEvent, onDeleted, onError } = this.#handlers;
    if (this.#session.ready) this.#session.confirm(peer);
    try {
      const notification = parseNotification(name, params);
      if (!notification) this.#stats.unknownNotifications++;
      else if (notification.type === "thread.deleted") onDeleted(notification.data.threadId);
      else onEvent(notification);
    } catch (error) {
      if (!MalformedMessageError.isInstance(error)) throw error;
      this.#stats.malformedNotifications++;
      onError(error);
    }
  }

  #changed(state: SessionState): void {
    const { error } = this.#session;
    if (state === "reconnecting") {
      this.#current = undefined;
      this.#handlers.onLost(toClosed(error));
    } else if (state === "closed") {
      this.#current = undefined;
      this.#error = toClosed(error);
      this.#handlers.onClose(this.#error, error === undefined);
    }
  }
}
