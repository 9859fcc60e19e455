import {
  type ErrorObject,
  JsonRpcErrorCode,
  type JsonValue,
  type Params,
  type RequestId,
} from "@harnesskit/protocol/envelope";
import type { Channel, CloseReason } from "../channel.ts";
import { FaultRun } from "../codec/fault-run.ts";
import {
  ConnectionClosedError,
  type FrameTooLargeError,
  HarnessError,
  InvalidMessageError,
} from "../errors.ts";
import { methodNotFound, ProtocolError } from "../protocol-error.ts";
import { quietly } from "../quietly.ts";
import { AnswerSender } from "./answer-sender.ts";
import type { ReplySink } from "./inbound-call.ts";
import { InboundCalls } from "./inbound-calls.ts";
import { messageKind, readableId } from "./message-kind.ts";
import { OrderedNotifications } from "./ordered-notifications.ts";
import {
  type CancellationProtocol,
  checkTimeout,
  type PeerHandlers,
  type PeerOptions,
  type RequestOptions,
  resolvePeerOptions,
} from "./peer-options.ts";
import { PendingRequests } from "./pending-requests.ts";
import { ReplyBatch } from "./reply-batch.ts";

/** One call of an outgoing batch. */
export interface BatchCall {
  readonly method: string;
  readonly params?: unknown;
  /** Wants no answer. @default false */
  readonly notification?: boolean;
}

/**
 * One end of a JSON-RPC 2.0 connection: both ends may call, notify and answer. Knows no method. When the channel
 * closes, every pending request is settled with `connection_closed` and every running handler is aborted.
 */
export interface Peer<Context = unknown> {
  /**
   * Calls the other side. Resolves with the result as it came, unvalidated. Rejects with a {@link ProtocolError} (the
   * other side's), or `request_timeout`, `request_cancelled`, `connection_closed`, `buffer_full`, `frame_too_large`,
   * `invalid_message` (the answer was no answer), `invalid_argument` (the parameters are not JSON).
   */
  request(method: string, params?: unknown, options?: RequestOptions): Promise<unknown>;
  /** Tells the other side. Settles as {@link Channel.send} does. */
  notify(method: string, params?: unknown): Promise<void>;
  /**
   * Sends several calls as one message; one promise for each that is a request, in order, which settles as that of
   * {@link Peer.request} does. When one of them is refused, none is sent. Without calls nothing is sent.
   */
  batch(calls: readonly BatchCall[], options?: RequestOptions): Promise<unknown>[];
  /** Settles when every request of the other side so far is answered, and every notification is handled. */
  whenIdle(): Promise<void>;
  /** Settles what is pending and aborts what is running, at once; sends what is queued, then closes. Idempotent. */
  close(): Promise<void>;
  readonly closed: Promise<CloseReason>;
  /** Aborts when the connection is closed. */
  readonly signal: AbortSignal;
  /** What the transport knows about the other side. */
  readonly context: Context;
}

class JsonRpcPeer<Context> implements Peer<Context> {
  readonly #channel: Channel<Context>;
  readonly #handlers: PeerHandlers<Context>;
  readonly #options: ReturnType<typeof resolvePeerOptions>;
  readonly #pending: PendingRequests;
  readonly #inbound: InboundCalls<Context>;
  readonly #faults = new FaultRun();
  #lastSent: Promise<void> | undefined;
  readonly #notifications: OrderedNotifications;
  readonly #answers: AnswerSender;

  constructor(channel: Channel<Context>, handlers: PeerHandlers<Context>, options: PeerOptions) {
    this.#channel = channel;
    this.#handlers = handlers;
    this.#options = resolvePeerOptions(options);
    this.#pending = new PendingRequests({ ...this.#options, onGivenUp: (id) => this.#tellCancelled(id) });
    const onFailure = (cause: unknown) => this.#handlerFailed(cause);
    this.#answers = new AnswerSender({
      channel,
      report: (error) => this.#report(error),
      onFailure,
      resultTooLarge: (method, error) => handlers.resultTooLarge?.(method, error),
    });
    this.#inbound = new InboundCalls({
      ...this.#options,
      context: channel.context,
      handle: (method, params, call) => {
        if (!handlers.request) throw methodNotFound(method);
        return handlers.request(method, params, call);
      },
      onFailure,
    });
    this.#notifications = new OrderedNotifications(this.#options.maxQueuedCalls, onFailure);
  }

  start(): void {
    this.#channel.start({
      message: (message) => this.#receive(message),
      error: (error) => this.#receiveFault(error),
      end: () => this.#ended(),
      close: (reason) => this.#channelClosed(reason),
    });
  }

  get closed(): Promise<CloseReason> {
    return this.#channel.closed;
  }

  get signal(): AbortSignal {
    return this.#channel.signal;
  }

  get context(): Context {
    return this.#channel.context;
  }

  request(method: string, params?: unknown, options: RequestOptions = {}): Promise<unknown> {
    try {
      const { id, answer } = this.#expect(method, options);
      const request =
        params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
      this.#watch(this.#channel.send(request), (error) => this.#pending.fail(id, error));
      return answer;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  notify(method: string, params?: unknown): Promise<void> {
    return this.#channel.send(
      params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params },
    );
  }

  batch(calls: readonly BatchCall[], options: RequestOptions = {}): Promise<unknown>[] {
    const ids: (number | string)[] = [];
    const answers: Promise<unknown>[] = [];
    const messages: unknown[] = [];
    let refusal: Promise<never> | undefined;
    for (const { method, params, notification = false } of calls) {
      const fields = params === undefined ? { method } : { method, params };
      if (notification) {
        messages.push({ jsonrpc: "2.0", ...fields });
        continue;
      }
      try {
        const { id, answer } = this.#expect(method, options);
        ids.push(id);
        answers.push(answer);
        messages.push({ jsonrpc: "2.0", id, ...fields });
      } catch (error) {
        refusal = Promise.reject(error);
        answers.push(refusal);
      }
    }
    if (messages.length + answers.length === 0) return answers;
    (refusal ?? this.#channel.send(messages)).catch((error: HarnessError) => {
      for (const id of ids) this.#pending.fail(id, error);
      if (answers.length === 0) this.#report(error);
    });
    return answers;
  }

  async whenIdle(): Promise<void> {
    await Promise.all([this.#inbound.whenIdle(), this.#notifications.whenIdle()]);
  }

  close(): Promise<void> {
    this.#release(new ConnectionClosedError());
    return this.#channel.close();
  }

  #expect(method: string, { timeoutMs = this.#options.requestTimeoutMs, signal }: RequestOptions) {
    return this.#pending.add(method, checkTimeout(timeoutMs), signal);
  }

  #receive(message: unknown): void | Promise<void> {
    return Array.isArray(message) ? this.#receiveBatch(message) : this.#dispatch(message, this.#answers);
  }

  #dispatch(message: unknown, sink: ReplySink, batch?: ReplyBatch): void | Promise<void> {
    switch (messageKind(message)) {
      case "request": {
        this.#faults.end();
        const { id, method, params } = message as { id: RequestId; method: string; params?: Params | null };
        batch?.expect();
        return this.#inbound.accept(id, method, params ?? undefined, sink);
      }
      case "response":
        return this.#settle(message as { id: RequestId; result?: JsonValue; error?: ErrorObject | null });
      case "notification":
        this.#faults.end();
        return this.#notified(message as { method: string; params?: Params | null });
      case "invalid_call": {
        const error = new ProtocolError(JsonRpcErrorCode.InvalidRequest, "Not a valid JSON-RPC 2.0 request");
        batch?.expect();
        sink.error(readableId(message), error);
        return this.#fault(new InvalidMessageError("not_json_rpc", "a message is not JSON-RPC 2.0"));
      }
      case "invalid_response": {
        const error = new InvalidMessageError("not_json_rpc", "an answer is not a JSON-RPC 2.0 response");
        if (!this.#pending.fail(readableId(message), error)) this.#fault(error);
      }
    }
  }

  #receiveBatch(messages: unknown[]): void | Promise<void> {
    const { maxBatchSize } = this.#options;
    if (messages.length === 0 || messages.length > maxBatchSize) {
      const data =
        messages.length === 0 ? { reason: "empty_batch" } : { reason: "batch_too_large", maxBatchSize };
      const text =
        messages.length === 0
          ? "A batch holds no message"
          : `A batch holds more than ${maxBatchSize} messages`;
      this.#answers.error(null, new ProtocolError(JsonRpcErrorCode.InvalidRequest, text, { data }));
      return;
    }
    const batch = new ReplyBatch((responses) => this.#answers.batch(responses));
    let wait: Promise<void> | undefined;
    for (const message of messages) wait = this.#dispatch(message, batch, batch) ?? wait;
    batch.seal();
    return wait;
  }

  #settle({ id, result, error }: { id: RequestId; result?: JsonValue; error?: ErrorObject | null }): void {
    const known = error ? this.#pending.reject(id, error) : this.#pending.resolve(id, result as JsonValue);
    if (known) {
      this.#faults.end();
      return;
    }
    if (error && (id === null || id === "") && this.#isOnlyOnes(error)) return;
    const what = error ? `an error answer (${error.code})` : "an answer";
    const isLate = this.#pending.wasSent(id);
    this.#fault(
      isLate
        ? new InvalidMessageError("late_answer", `${what} came late or twice`)
        : new InvalidMessageError("not_json_rpc", `${what} ${this.#pending.strangerText(id)}`),
    );
  }

  #isOnlyOnes({ code, message, data }: ErrorObject): boolean {
    if (!this.#options.attributesErrors) return false;
    return this.#pending.failOnly(new ProtocolError(code, message, data === undefined ? {} : { data }));
  }

  /** What is of no use, in place of a message. */
  #fault(error: InvalidMessageError): void {
    this.#report(error);
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }

  #notified(message: { method: string; params?: Params | null }): void | Promise<void> {
    const { method } = message;
    const params = message.params ?? undefined;
    const { cancellation } = this.#options;
    if (method === cancellation?.method) {
      this.#cancelledByOther(cancellation, params);
      return;
    }
    if (this.#handlers.notification) {
      return this.#notifications.accept(() => this.#handlers.notification?.(method, params));
    }
  }

  #cancelledByOther(cancellation: CancellationProtocol, params: Params | undefined): void {
    try {
      const id = cancellation.toId(params);
      if (id !== undefined) this.#inbound.cancel(id);
    } catch (cause) {
      this.#handlerFailed(cause);
    }
  }

  /** What arrived is no message: the other side is told, with the id null, since none could be read. */
  #receiveFault(error: HarnessError): void {
    if (isTooLarge(error)) {
      const data = { reason: "message_too_large", maxFrameBytes: error.maxFrameBytes };
      this.#answers.error(
        null,
        new ProtocolError(JsonRpcErrorCode.InvalidRequest, "The message is too large", { data }),
      );
    } else if (isNoMessage(error)) {
      const tooDeep = error.reason === "too_deep";
      const code = tooDeep ? JsonRpcErrorCode.InvalidRequest : JsonRpcErrorCode.ParseError;
      const text = tooDeep ? "The message nests too deeply" : "Parse error";
      this.#answers.error(null, new ProtocolError(code, text, { data: { reason: error.reason } }));
    }
    this.#report(error);
  }

  /**
   * Attends to what `send` refuses. Messages that leave together share a promise; when that one rejects the channel
   * closes, which settles the others.
   */
  #watch(sent: Promise<void>, onRefused: (error: HarnessError) => void): void {
    if (sent === this.#lastSent) return;
    this.#lastSent = sent;
    sent.catch(onRefused);
  }

  #tellCancelled(id: number | string): void {
    const { cancellation } = this.#options;
    if (!cancellation) return;
    this.notify(cancellation.method, cancellation.toParams(id)).catch((error: HarnessError) =>
      this.#report(error),
    );
  }

  #ended(): void {
    this.#pending.close(new ConnectionClosedError("the other side sends no more"));
    if (this.#handlers.end) this.#handlers.end();
    else void this.whenIdle().then(() => this.close());
  }

  #channelClosed(reason: CloseReason): void {
    const lost = new ConnectionClosedError(undefined, reason.error ? { cause: reason.error } : undefined);
    this.#release(lost);
    this.#handlers.close?.(reason);
  }

  /** Nothing can be answered any more, in either direction. */
  #release(lost: ConnectionClosedError): void {
    this.#pending.close(lost);
    this.#inbound.close(lost);
    this.#notifications.close();
  }

  #handlerFailed(cause: unknown): void {
    this.#report(
      HarnessError.isInstance(cause)
        ? cause
        : new HarnessError("handler_failed", "a handler failed", { cause }),
    );
  }

  /** A reporter that fails has nobody to be reported to; the connection goes on. */
  #report(error: HarnessError): void {
    quietly(() => this.#handlers.unexpected?.(error));
  }
}

// Errors are told apart by code: the channel may come from another copy of this package.
const isTooLarge = (error: HarnessError): error is FrameTooLargeError => error.code === "frame_too_large";
const isNoMessage = (error: HarnessError): error is InvalidMessageError => error.code === "invalid_message";

/** Opens one end of a JSON-RPC 2.0 connection over a channel, and starts it. */
export const createPeer = <Context>(
  channel: Channel<Context>,
  handlers: PeerHandlers<Context> = {},
  options: PeerOptions = {},
): Peer<Context> => {
  const peer = new JsonRpcPeer(channel, handlers, options);
  peer.start();
  return peer;
};
