import type { Params } from "@harnesskit/protocol/envelope";
import { callSafely } from "../call-safely.ts";
import type { Channel, CloseReason } from "../channel.ts";
import { ConnectionClosedError, HarnessError, InvalidMessageError } from "../errors.ts";
import { ChannelServer } from "./channel-server.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { isAnswer, isCall, type RpcReply } from "./message.ts";
import {
  checkPeerOptions,
  type PeerHandlers,
  type PeerOptions,
  type RequestOptions,
  type RpcConnection,
  resolvePeerOptions,
} from "./peer-options.ts";
import { PendingRequests } from "./pending-requests.ts";
import { exceedsFrame } from "./rpc-errors.ts";
import { findMethod, type RpcMethod } from "./rpc-method.ts";
import type { RpcOrigin } from "./rpc-origin.ts";

const notJsonRpc = (message: string) => new InvalidMessageError("not_json_rpc", message);

/**
 * One end of a JSON-RPC 2.0 connection: both ends may call, notify and answer. Knows no method. When the channel
 * closes, every pending request is settled with `connection_closed` and every running handler is aborted.
 */
export class Peer<Context = unknown> implements RpcConnection {
  readonly #channel: Channel<Context>;
  readonly #handlers: Pick<PeerHandlers, "end" | "close" | "onError">;
  readonly #options: ReturnType<typeof resolvePeerOptions>;
  readonly #pending: PendingRequests;
  readonly #origin: Pick<RpcOrigin<Context>, "accept" | "close" | "whenIdle">;
  readonly #server: ChannelServer<RpcReply>;
  readonly #maxBatchSize: number;

  /** @internal Use {@link createPeer}. */
  constructor(channel: Channel<Context>, handlers: PeerHandlers<Context>, options: PeerOptions) {
    this.#channel = channel;
    this.#handlers = handlers;
    this.#options = resolvePeerOptions(options);
    const { maxConcurrentCalls, maxQueuedCalls } = this.#options;
    this.#pending = new PendingRequests(this.#options);
    const dispatcher = this.#createDispatcher(handlers);
    this.#maxBatchSize = dispatcher.maxBatchSize;
    this.#origin = dispatcher.open(channel.context, {
      maxConcurrentCalls,
      onMessage: (isValid) => {
        if (isValid) this.#server.note(true);
        else this.#fault(notJsonRpc("a message is not JSON-RPC 2.0"));
      },
    });
    this.#server = new ChannelServer<RpcReply>(channel, {
      take: this.#take,
      receive: (message, respond) => void this.#origin.accept(message, respond),
      malformed: (error) => {
        this.#pending.fault(error);
        this.#report(error);
        if (!this.#options.answersOnly) return dispatcher.malformed(error);
        this.#server.note(false);
        return undefined;
      },
      unsendable: (reply, error, method) => dispatcher.unsendable(reply, error, method),
      maxPending: maxConcurrentCalls + maxQueuedCalls,
      onError: (error) => this.#report(error),
      onEnd: () => this.#ended(),
      onClose: (reason) => this.#closed(reason),
    });
    this.#server.start();
  }

  get closed(): Promise<CloseReason> {
    return this.#channel.closed;
  }

  /** Aborts when the connection is closed. */
  get signal(): AbortSignal {
    return this.#channel.signal;
  }

  /** What the transport knows about the other side. */
  get context(): Context {
    return this.#channel.context;
  }

  /** As of the channel. */
  get hint(): string | undefined {
    return this.#channel.hint;
  }

  /**
   * Calls the other side. Resolves with the result as it came, unvalidated. Rejects with a `ProtocolError` (the
   * other side's), or `request_timeout`, `request_cancelled`, `connection_closed`, `buffer_full` (the other side reads too slowly), `frame_too_large`,
   * `invalid_message` (the answer is not valid), `invalid_argument` (the parameters are not JSON).
   */
  request(method: string, params?: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { timeoutMs = this.#options.requestTimeoutMs, signal } = options;
    return this.#pending.request(this.#channel, method, params, { timeoutMs, signal });
  }

  /** Notifies the other side. Settles as {@link Channel.send} does. */
  notify(method: string, params?: unknown): Promise<void> {
    return this.#channel.send(
      params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params },
    );
  }

  /** Settles when every request of the other side so far is answered, and every notification is handled. */
  whenIdle(): Promise<void> {
    return this.#origin.whenIdle();
  }

  /** Settles what is pending and aborts what is running, at once; sends what is queued, then closes. Idempotent. */
  close(): Promise<void> {
    this.#release(new ConnectionClosedError());
    return this.#channel.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Takes an answer, and those of a batch, and returns the rest; takes everything where the other side only answers. */
  readonly #take = (message: unknown): unknown => {
    if (this.#options.answersOnly) {
      if (isCall(message)) this.#fault(notJsonRpc("the other side only answers, and does not call"));
      else this.#settle(message);
      return undefined;
    }
    if (isAnswer(message)) return this.#settle(message);
    if (!Array.isArray(message) || message.length > this.#maxBatchSize) return message;
    const rest = message.filter((each) => !isAnswer(each));
    if (rest.length === message.length) return message;
    for (const each of message) if (isAnswer(each)) this.#settle(each);
    return rest.length > 0 ? rest : undefined;
  };

  #settle(message: unknown): undefined {
    const problem = this.#pending.settle(message);
    if (problem) this.#fault(problem);
    else this.#server.note(true);
  }

  /** Something arrived that is of no use. */
  #fault(error: InvalidMessageError): void {
    this.#pending.fault(error);
    this.#report(error);
    this.#server.note(false);
  }

  #ended(): void {
    this.#pending.close(new ConnectionClosedError("the other side sends no more"));
    if (this.#handlers.end) this.#handlers.end();
    else void this.whenIdle().then(() => this.close());
  }

  #closed(reason: CloseReason): void {
    this.#release(new ConnectionClosedError(undefined, reason.error ? { cause: reason.error } : undefined));
    this.#handlers.close?.(reason);
  }

  #createDispatcher(handlers: PeerHandlers<Context>): Dispatcher<Context> {
    const request: RpcMethod<Params | undefined, Context> | undefined = handlers.request && {
      handle: (params, call) => handlers.request?.(call.method, params, call),
    };
    const notification: RpcMethod<Params | undefined, Context> | undefined = handlers.notification && {
      handle: (params, call) => handlers.notification?.(call.method, params),
    };
    return createDispatcher<Context>({
      methods: (name) => findMethod(handlers.methods, name) ?? request,
      notifications: (name) => findMethod(handlers.notifications, name) ?? notification,
      errors: {
        unsendable: (error, method = "") =>
          exceedsFrame(error) ? handlers.resultTooLarge?.(method, error) : undefined,
      },
      onError: (error) => this.#handlerFailed(error),
      clock: this.#options.clock,
    });
  }

  /** Nothing can be answered any more, in either direction. */
  #release(lost: ConnectionClosedError): void {
    this.#pending.close(lost);
    this.#origin.close(lost);
  }

  #handlerFailed(cause: unknown): void {
    this.#report(
      HarnessError.isInstance(cause)
        ? cause
        : new HarnessError("handler_failed", "a handler failed", { cause }),
    );
  }

  #report(error: HarnessError): void {
    callSafely(() => this.#handlers.onError?.(error));
  }
}

/**
 * One end of a JSON-RPC 2.0 connection over an open channel, which it starts. Throws `invalid_argument` for an option that
 * is not valid, or where the channel was started before.
 */
export const createPeer = <Context>(
  channel: Channel<Context>,
  handlers: PeerHandlers<Context> = {},
  options: PeerOptions = {},
): Peer<Context> => new Peer(channel, handlers, checkPeerOptions(options));
