import { HarnessError, InvalidMessageError, RequestCancelledError } from "../errors.ts";
import { type Exchange, isReplyTooLarge } from "../exchange.ts";
import { LazyAbort } from "../lazy-abort.ts";
import { type Clock, maxTimerMs } from "../time/clock.ts";
import { messageKind, type ResponseMessage } from "./message.ts";
import type { RequestOptions, RpcConnection } from "./peer-options.ts";
import { PendingRequests } from "./pending-requests.ts";
import { toReceivedError } from "./rpc-errors.ts";

/** What an exchange receives beside each message. */
export interface ExchangeCall {
  /** Aborts when no caller waits for the reply any more. Created when it is first read. */
  readonly signal: AbortSignal;
  /** Calls `stop` when the signal aborts, the last one that it was given, and creates no signal: that costs more than a small message. */
  onAbort(stop: () => void): void;
  /** How long the reply is waited for, in whole milliseconds; at least 1. */
  readonly timeoutMs: number;
}

export interface ExchangeConnectionOptions {
  readonly clock: Clock;
  /** How long a notification may take. */
  readonly notifyTimeoutMs: () => number;
  /** Ends what is in progress. */
  readonly signal: AbortSignal;
  /** Reports a reply that came late. Must not throw. */
  readonly onDropped: (error: HarnessError) => void;
}

class Call extends LazyAbort implements ExchangeCall {
  #stop = () => {};

  constructor(readonly timeoutMs: number) {
    super();
  }

  onAbort(stop: () => void): void {
    if (this.isAborted) stop();
    else this.#stop = stop;
  }

  override abort(reason: unknown): void {
    super.abort(reason);
    this.#stop();
  }
}

const replyError = (what: string, cause?: unknown): HarnessError =>
  new InvalidMessageError("not_json_rpc", `the reply ${what}`, { cause });

/** Whether a notification was answered with something that cannot be read: the other side has it. */
const isUnreadableReply = (thrown: unknown): boolean =>
  HarnessError.isInstance(thrown) &&
  (thrown.code === "wrong_content_type" || thrown.code === "invalid_message");

/**
 * Calls over an exchange: each message is posted by itself, and what comes back belongs to it. There is no connection
 * to lose: a caller learns that no other side is there. The exchange stays its owner's to close.
 */
export class ExchangeConnection implements Omit<RpcConnection, "close"> {
  readonly #exchange: Exchange<ExchangeCall>;
  readonly #options: ExchangeConnectionOptions;
  readonly #pending: PendingRequests;

  constructor(exchange: Exchange<ExchangeCall>, options: ExchangeConnectionOptions) {
    const { clock, signal } = options;
    this.#exchange = exchange;
    this.#options = options;
    this.#pending = new PendingRequests({ clock });
    const end = () => this.#pending.close(new RequestCancelledError("the call", { cause: signal.reason }));
    signal.addEventListener("abort", end, { once: true });
  }

  async request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { id, posted } = this.#post(method, params, options, true);
    const reply = await posted;
    if (reply === undefined) throw replyError("is missing: the request was taken as a notification");
    if (messageKind(reply) !== "response") throw replyError("is not a JSON-RPC 2.0 response");
    const { id: answered, result, error } = reply as ResponseMessage;
    if (answered !== id) {
      const shown = `${typeof answered} ${JSON.stringify(answered).slice(0, 64)}`;
      throw replyError(`has the ${shown} as its id, and the request's is the string ${JSON.stringify(id)}`);
    }
    if (error) throw toReceivedError(error);
    return result;
  }

  /** Rejects with the error that the other side answers. Any other reply says that it has the notification. */
  async notify(method: string, params: unknown): Promise<void> {
    const timeoutMs = this.#options.notifyTimeoutMs();
    const reply = await this.#post(method, params, { timeoutMs }, false).posted.catch((error: unknown) => {
      if (!isUnreadableReply(error)) throw error;
    });
    const { error } = (reply ?? {}) as Partial<ResponseMessage>;
    if (error && messageKind({ jsonrpc: "2.0", id: null, error }) === "response")
      throw toReceivedError(error);
  }

  /** Posts one message. Settles by its deadline whatever the exchange does; a later reply is dropped. */
  #post(method: string, params: unknown, options: RequestOptions, wantsReply: boolean) {
    const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
    const call = new Call(Math.min(Math.max(1, Math.ceil(timeoutMs)), maxTimerMs));
    const pending = this.#pending.add(method, timeoutMs, signal, (error) => call.abort(error));
    const id = String(pending.id);
    const message = wantsReply ? { jsonrpc: "2.0", id, method, params } : { jsonrpc: "2.0", method, params };
    void this.#send(pending.id, message, call);
    return { id, posted: pending.answer };
  }

  async #send(number: number | string, message: unknown, call: Call): Promise<void> {
    try {
      const reply = await this.#exchange.handle(message, call);
      const isLate = !this.#pending.resolve(number, reply);
      if (isLate && reply !== undefined) this.#options.onDropped(replyError("came late"));
    } catch (error) {
      this.#pending.fail(number, isReplyTooLarge(error, message) ? replyError("is too large", error) : error);
    }
  }
}
