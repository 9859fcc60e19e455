import { HarnessError, InvalidMessageError } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { type Clock, maxTimerMs } from "../time/clock.ts";
import { within } from "../time/within.ts";
import { isReplyTooLarge } from "./connection-failure.ts";
import { messageKind, type ResponseMessage } from "./message.ts";
import type { RequestOptions } from "./peer-options.ts";
import type { RpcConnection } from "./rpc-connection.ts";
import { toReceivedError } from "./rpc-errors.ts";

/** What an exchange receives beside each message. */
export interface ExchangeCall {
  /** Aborts when no caller waits for the reply any more. */
  readonly signal: AbortSignal;
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

const replyError = (what: string, cause?: unknown): HarnessError =>
  new InvalidMessageError("not_json_rpc", `the reply ${what}`, { cause });

/** Whether a notification was answered with something that cannot be read: the other side has it. */
const isUnreadableReply = (thrown: unknown): boolean =>
  HarnessError.isInstance(thrown) &&
  (thrown.code === "wrong_content_type" || thrown.code === "invalid_message");

/**
 * Calls over an exchange: each message is posted by itself, and what comes back belongs to it. There is no connection
 * to lose, and `close` ends nothing: a caller learns that no other side is there. The exchange stays its owner's to close.
 */
export class ExchangeConnection implements RpcConnection {
  readonly #exchange: Exchange<ExchangeCall>;
  readonly #options: ExchangeConnectionOptions;
  #lastId = 0;

  constructor(exchange: Exchange<ExchangeCall>, options: ExchangeConnectionOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  async request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    const id = String(++this.#lastId);
    const reply = await this.#post(method, { jsonrpc: "2.0", id, method, params }, options);
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
    const reply = await this.#post(method, { jsonrpc: "2.0", method, params }, { timeoutMs }).catch(
      (error: unknown) => {
        if (!isUnreadableReply(error)) throw error;
      },
    );
    const { error } = (reply ?? {}) as Partial<ResponseMessage>;
    if (error && messageKind({ jsonrpc: "2.0", id: null, error }) === "response")
      throw toReceivedError(error);
  }

  close(): void {}

  /** Posts one message. Settles by its deadline whatever the exchange does; a later reply is dropped. */
  async #post(method: string, message: unknown, options: RequestOptions): Promise<unknown> {
    const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
    const { clock, onDropped } = this.#options;
    const wholeMs = Math.min(Math.max(1, Math.ceil(timeoutMs)), maxTimerMs);
    try {
      return await within((stop) => this.#exchange.handle(message, { timeoutMs: wholeMs, signal: stop }), {
        clock,
        name: method,
        timeoutMs,
        signal: [signal, this.#options.signal],
        onLate: (reply) => {
          if (reply !== undefined) onDropped(replyError("came late"));
        },
      });
    } catch (error) {
      throw isReplyTooLarge(error, message) ? replyError("is too large", error) : error;
    }
  }
}
