import type { Params } from "@harnesskit/protocol/envelope";
import { type EventBody, THREAD_PROTOCOL_VERSION, type ThreadMethodName } from "@harnesskit/protocol/threads";
import {
  ConnectionClosedError,
  callSafely,
  displayText,
  HarnessError,
  randomId,
  systemClock,
  warnPlatform,
} from "@harnesskit/wire";
import {
  ClientSession,
  createPeer,
  type Peer,
  type RequestOptions,
  resolveReconnect,
  type SessionState,
} from "@harnesskit/wire/rpc";
import { ApprovalCalls } from "./approval-calls.ts";
import {
  type CallResult,
  callThreadServer,
  type Fields,
  type Initialized,
  parseNotification,
} from "./call-thread-server.ts";
import type { ThreadClientOptions } from "./client-options.ts";
import { MalformedMessageError, UnsupportedError, VersionMismatchError } from "./errors.ts";
import { EventQueue } from "./event-queue.ts";
import { extensionOf, hasExtension, type ThreadExtension } from "./extensions.ts";
import { Follows } from "./follows.ts";
import { type ClientLimits, clientLimits } from "./limits.ts";
import type { LiveTurn } from "./turn-handle.ts";
import { Turns } from "./turns.ts";

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

/**
 * A client's session with a thread server, over one connection after the other: its calls, and what the events of the current connection
 * are for: subscriptions, turns, approvals and streams.
 */
export class ThreadSession {
  readonly options: ThreadClientOptions;
  readonly limits: ClientLimits;
  readonly connections: ClientSession<Peer, Initialized>;
  readonly follows = new Follows((threadId, error) => this.turns.lose(error, threadId));
  readonly turns = new Turns(this);
  readonly approvals: ApprovalCalls;
  /** The readers of all events. */
  readonly #streams = new Set<EventQueue>();
  /** The connection whose events count: open, and perhaps not introduced yet. */
  #current: Peer | undefined;
  #error: HarnessError | undefined;

  /** Throws `invalid_argument`. */
  constructor(options: ThreadClientOptions) {
    this.options = options;
    this.limits = clientLimits.resolve(options.limits);
    this.approvals = new ApprovalCalls(this);
    this.connections = new ClientSession({
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

  /** What the server says of itself. */
  get server(): Initialized {
    return this.connections.introduction ?? unknownServer;
  }

  /** Why nothing will come any more. */
  get error(): HarnessError | undefined {
    return this.#error;
  }

  /** Reports what failed behind the caller's back; without `onError` only what the caller's own `onApproval` did wrong. */
  report(error: HarnessError): void {
    const { onError } = this.options;
    if (onError) callSafely(() => onError(error));
    else if (error.code === "approval_callback_failed")
      warnPlatform("ThreadClientWarning", {
        kind: error.code,
        message: displayText(error.message),
        cause: error,
      });
  }

  /** After a call failed by a loss: settles when there is a connection again, or none will come. */
  async whenSettled(): Promise<void> {
    await this.connections.whenReady().catch(() => {});
  }

  /** While the connection is being replaced, waits for the next one: no longer than `waitMs` of `reconnect`. */
  async whenReconnected(signal: AbortSignal | undefined): Promise<void> {
    if (this.connections.state === "reconnecting") await this.connections.whenReady({ signal });
  }

  has(extension: ThreadExtension): boolean {
    return hasExtension(this.server.capabilities, extension);
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
    return callThreadServer(this.connections, method, fields, { signal, timeoutMs, maxAttempts });
  }

  /** All events from now on. */
  events(): EventQueue {
    const queue: EventQueue = new EventQueue(this, () => {
      this.#streams.delete(queue);
      queue.end();
    });
    if (this.#error) queue.end(this.connections.error && this.#error);
    else this.#streams.add(queue);
    return queue;
  }

  /** Takes an event that is not held back any more, with its turn where this client started it. */
  observe(event: EventBody, turn: LiveTurn | undefined): void {
    if (turn) turn.within(() => this.approvals.observe(event, turn.approver));
    else this.approvals.observe(event, this.options.onApproval);
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

  async #introduce(peer: Peer, signal: AbortSignal): Promise<Initialized> {
    const { clientInfo: info } = this.options;
    const params = info ? { clientInfo: { name: info.name, version: info.version } } : {};
    const server = await callThreadServer(peer, "initialize", params, { signal });
    if (majorVersion(server.version) !== majorVersion(THREAD_PROTOCOL_VERSION))
      throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
    // A server that cannot be followed any more is of no use.
    if (this.has("subscribe") && !hasExtension(server.capabilities, "subscribe"))
      throw new UnsupportedError("thread.subscribe", "subscribe");
    await this.follows.resume(peer);
    return server;
  }

  /** Never throws for what came from outside: a malformed notification is reported, and the connection stays. */
  #notified(peer: Peer, name: string, params: Params | undefined): void {
    if (this.connections.ready) this.connections.confirm(peer);
    try {
      const notification = parseNotification(name, params);
      if (notification === undefined) return;
      if (notification.type === "thread.deleted") this.#deleted(notification.data.threadId);
      else this.#receive(notification);
    } catch (error) {
      if (!MalformedMessageError.isInstance(error)) throw error;
      this.report(error);
    }
  }

  #receive(event: EventBody): void {
    if (!this.follows.accept(event)) return;
    for (const queue of this.#streams) queue.push(event);
    this.turns.route(event);
  }

  /** The thread is gone with its log. */
  #deleted(threadId: string): void {
    this.follows.deleted(threadId);
    callSafely(() => this.options.onThreadDeleted?.(threadId));
  }

  #changed(state: SessionState): void {
    if (state !== "reconnecting" && state !== "closed") return;
    const { error } = this.connections;
    const loss = toClosed(error);
    this.#current = undefined;
    if (state === "closed") {
      this.#error = loss;
      this.follows.close(loss);
    } else this.follows.detach();
    // Without subscriptions the client cannot know what a turn does meanwhile.
    if (state === "reconnecting" && this.has("subscribe")) return;
    this.turns.lose(loss);
    this.approvals.abandon();
    if (state === "reconnecting") return;
    // A stream of events just ends when the close was in good order.
    for (const queue of this.#streams) queue.end(error && loss);
    this.#streams.clear();
  }
}
