import type { Params } from "@harnesskit/protocol/envelope";
import {
  type EventBody,
  THREAD_PROTOCOL_VERSION,
  type ThreadCapabilities,
  type ThreadMethodName,
} from "@harnesskit/protocol/threads";
import {
  type CloseReason,
  ConnectionClosedError,
  callSafely,
  HarnessError,
  randomId,
  systemClock,
} from "@harnesskit/wire";
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
import {
  type CallResult,
  callThreadServer,
  type Fields,
  type Initialized,
  parseNotification,
} from "./call-thread-server.ts";
import type { ThreadClientOptions } from "./client-options.ts";
import { MalformedMessageError, UnsupportedError, VersionMismatchError } from "./errors.ts";
import { extensionOf, hasExtension, type ThreadExtension } from "./extensions.ts";
import { type ClientLimits, clientLimits } from "./limits.ts";

export interface CallOptions extends RequestOptions {
  /** May be sent again when the connection is lost before the answer. @default where it has the same effect twice */
  readonly repeatable?: boolean | undefined;
}

/** Sent again after a loss, each of these has the same effect. */
const repeatableMethods: readonly ThreadMethodName[] = [
  "thread.rename",
  "thread.archive",
  "thread.unarchive",
  "thread.search",
  "queue.list",
];

/** Sent again under the same `clientRequestId`, each of these takes effect once. */
const namedMethods: readonly ThreadMethodName[] = [
  "thread.create",
  "thread.fork",
  "thread.compact",
  "turn.start",
  "approval.respond",
];

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

const majorVersion = (version: string): string | undefined => /^(\d{1,9})\.\d/.exec(version)?.[1];

/** The session of a client with a thread server: its calls, over one connection after the other, and the events of the current one. */
export abstract class ThreadSession {
  readonly limits: ClientLimits;
  protected readonly options: ThreadClientOptions;
  readonly #session: ClientSession<Peer, Initialized>;
  /** The connection whose events count: open, and perhaps not introduced yet. */
  #current: Peer | undefined;
  #server = unknownServer;
  #error: HarnessError | undefined;

  /** Throws `invalid_argument`. */
  constructor(options: ThreadClientOptions) {
    this.options = options;
    this.limits = clientLimits.resolve(options.limits);
    this.#session = new ClientSession({
      clock: options.clock ?? systemClock,
      reconnect: resolveReconnect(options.reconnect),
      closesWhenLost: true,
      // Each call of an introduction has its own deadline.
      timeoutMs: () => Number.POSITIVE_INFINITY,
      open: (signal, onOver) => this.#open(signal, onOver),
      introduce: (connection, { signal }) => this.#introduce(connection, signal),
      isFinal: isPermanent,
      onState: (state) => this.#changed(state),
      onListenerFailed: (error) => this.report(error),
    });
  }

  /** Takes an event as it arrives. */
  protected abstract receive(event: EventBody): void;

  /** The thread is gone with its log. */
  protected abstract deleted(threadId: string): void;

  /** Resumes over a new connection what was followed. What it rejects with fails the attempt. */
  protected abstract resume(connection: RpcConnection): Promise<void>;

  /** The connection is lost, and another one is being made. */
  protected abstract interrupted(error: HarnessError): void;

  /** Called once and last. `inGoodOrder` when either side just closed. */
  protected abstract lost(error: HarnessError, inGoodOrder: boolean): void;

  get state(): SessionState {
    return this.#session.state;
  }

  get closed(): Promise<CloseReason> {
    return this.#session.closed;
  }

  get capabilities(): ThreadCapabilities {
    return this.#server.capabilities;
  }

  /** Why nothing will come any more. */
  get error(): HarnessError | undefined {
    return this.#error;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#session.onState(listener);
  }

  async connect(options: ConnectOptions = {}): Promise<Initialized> {
    return (await this.#session.connect(options)).introduction;
  }

  /** Reports what failed behind the caller's back. */
  report(error: HarnessError): void {
    callSafely(() => this.options.onError?.(error));
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

  /**
   * Calls a method over the connection; while disconnected, over the next one. One that a server knows by its `clientRequestId`
   * gets one. Rejects with `unsupported` where the server has not its extension, and as the call.
   */
  async call<M extends ThreadMethodName>(
    method: M,
    params: Fields,
    { repeatable = repeatableMethods.includes(method), signal, timeoutMs }: CallOptions = {},
  ): Promise<CallResult<M>> {
    const { clientRequestId: given } = params;
    const extension = extensionOf[method];
    if (extension !== undefined) this.require(extension, method);
    if (given !== undefined) this.require("clientRequestId", method);
    const isNamed = namedMethods.includes(method) && this.has("clientRequestId");
    const { createId = randomId } = this.options;
    const fields = isNamed ? { ...params, clientRequestId: given ?? createId("req") } : params;
    const maxAttempts = repeatable || isNamed ? Number.POSITIVE_INFINITY : 1;
    return callThreadServer(this.#session, method, fields, { signal, timeoutMs, maxAttempts });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<Peer> {
    const { transport, requestTimeoutMs, clock } = this.options;
    const peer: Peer = createPeer(
      await transport.connect({ signal }),
      {
        notification: (name, params) => {
          if (this.#current === peer) this.#notified(peer, name, params);
        },
        close: ({ error }) => onOver(error),
        onError: (error) => this.report(error),
      },
      { requestTimeoutMs, clock },
    );
    this.#current = peer;
    return peer;
  }

  /** A server that cannot be followed any more is of no use. */
  async #introduce(peer: Peer, signal: AbortSignal): Promise<Initialized> {
    const followed = this.#server !== unknownServer && this.has("subscribe");
    const { clientInfo: info } = this.options;
    const params = info ? { clientInfo: { name: info.name, version: info.version } } : {};
    const server = await callThreadServer(peer, "initialize", params, { signal });
    if (majorVersion(server.version) !== majorVersion(THREAD_PROTOCOL_VERSION))
      throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
    this.#server = server;
    if (followed) this.require("subscribe", "thread.subscribe");
    await this.resume(peer);
    return server;
  }

  /** Never throws for what came from outside: a malformed notification is reported, and the connection stays. */
  #notified(peer: Peer, name: string, params: Params | undefined): void {
    if (this.#session.ready) this.#session.confirm(peer);
    try {
      const notification = parseNotification(name, params);
      if (notification === undefined) return;
      if (notification.type === "thread.deleted") this.deleted(notification.data.threadId);
      else this.receive(notification);
    } catch (error) {
      if (!MalformedMessageError.isInstance(error)) throw error;
      this.report(error);
    }
  }

  #changed(state: SessionState): void {
    if (state !== "reconnecting" && state !== "closed") return;
    const { error } = this.#session;
    this.#current = undefined;
    const closed = toClosed(error);
    if (state === "closed") this.#error = closed;
    if (state === "closed") this.lost(closed, error === undefined);
    else this.interrupted(closed);
  }
}
