import type { ErrorObject, JsonValue } from "@harnesskit/protocol/envelope";
import {
  type Clock,
  type Exchange,
  type FrameTooLargeError,
  HarnessError,
  InvalidMessageError,
  ProtocolError,
  RequestCancelledError,
  RequestTimeoutError,
} from "@harnesskit/wire";
import { maxTimerMs, within } from "@harnesskit/wire/time";
import type { Line, LineRequestOptions, LineSource, OnDropped } from "./line.ts";

/** What an exchange receives beside each message. */
export interface ExchangeCall {
  /** Aborts when no caller waits for the reply any more. */
  readonly signal: AbortSignal;
  /** How long the reply is waited for, in whole milliseconds; at least 1. */
  readonly timeoutMs: number;
}

/** One message out, one reply back or none: `createHttpExchange` of transport-http is one. It may reject. */
export type AhpExchange = Exchange<ExchangeCall>;

export interface ExchangeLineOptions {
  readonly clock: Clock;
  /** How long a notification may take. */
  readonly notifyTimeoutMs: () => number;
  readonly onDropped: OnDropped;
}

interface Fields {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const isErrorObject = (value: unknown): value is ErrorObject => {
  if (typeof value !== "object" || value === null) return false;
  const { code, message } = value as { code?: unknown; message?: unknown };
  return Number.isInteger(code) && typeof message === "string";
};

const toProtocolError = ({ code, message, data }: ErrorObject): ProtocolError =>
  new ProtocolError(code, message, data === undefined ? {} : { data: data as JsonValue });

/** Null is read as absent. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** What is wrong with the id of a reply: its type and value, beside those of the request. */
const idText = (answered: unknown, id: string): string => {
  const shown = JSON.stringify(answered)?.slice(0, 64) ?? "none";
  if (isAbsent(answered)) return `has no id, and the request's is ${JSON.stringify(id)}`;
  return `has the ${typeof answered} ${shown} as its id, and the request's is the string ${JSON.stringify(id)}`;
};

/** An error about a reply that cannot be used. */
const replyError = (what: string, cause?: unknown): HarnessError =>
  new InvalidMessageError("not_json_rpc", `the reply ${what}`, cause === undefined ? {} : { cause });

/** The result in a reply to the request `id`. Throws the harness's error, or `invalid_message`. */
const resultOf = (reply: unknown, id: string): unknown => {
  if (reply === undefined) throw replyError("is missing: the request was taken as a notification");
  if (typeof reply !== "object" || reply === null) throw replyError("is not an answer to a request");
  const { jsonrpc, id: answered, result, error } = reply as Fields;
  if (jsonrpc !== "2.0") throw replyError("is not JSON-RPC 2.0");
  if (answered !== id) throw replyError(idText(answered, id));
  if (isAbsent(error)) {
    if (result === undefined) throw replyError("has neither a result nor an error");
    return result;
  }
  if (!isAbsent(result)) throw replyError("has a result and an error");
  throw isErrorObject(error) ? toProtocolError(error) : replyError("has an invalid error");
};

/**
 * What a harness says against a notification: an error. Undefined where it took it, whatever else it answers: the reference's
 * servers answer with a body.
 */
const refusalIn = (reply: unknown): HarnessError | undefined => {
  const { error } = (reply ?? {}) as Fields;
  return isErrorObject(error) ? toProtocolError(error) : undefined;
};

/** Whether a notification was answered with something that cannot be read: the harness has it. */
const isUnreadableReply = (thrown: unknown): boolean =>
  HarnessError.isInstance(thrown) && unreadable.has(thrown.code);

const unreadable: ReadonlySet<string> = new Set(["wrong_content_type", "invalid_message"]);

/** An exchange reports `frame_too_large` of a message and of its reply; the size of the message tells which. */
const toReplyError = (error: unknown, message: unknown): unknown => {
  if (!HarnessError.isInstance(error) || error.code !== "frame_too_large") return error;
  const { maxFrameBytes } = error as FrameTooLargeError;
  const bytes = new TextEncoder().encode(JSON.stringify(message)).length;
  return bytes > maxFrameBytes ? error : replyError("is too large", error);
};

/**
 * The lines over an exchange. There is no connection to lose, so a line never ends by itself: a caller learns
 * that no harness is there. The exchange stays its owner's to close.
 */
export const exchangeSource = (exchange: AhpExchange, options: ExchangeLineOptions): LineSource => {
  const { clock, notifyTimeoutMs, onDropped } = options;
  const inProgress = new Set<AbortController>();
  let lastId = 0;

  /** Posts one message. Settles by its deadline whatever the exchange does; a later reply is dropped. */
  const post = async (method: string, message: unknown, { timeoutMs, signal }: LineRequestOptions) => {
    const wholeMs = Math.min(Math.max(1, Math.ceil(timeoutMs)), maxTimerMs);
    if (signal?.aborted) throw new RequestCancelledError(method, { cause: signal.reason });
    if (!(timeoutMs > 0)) throw new RequestTimeoutError(method, timeoutMs);
    const stop = new AbortController();
    inProgress.add(stop);
    const handled = (async () => exchange.handle(message, { timeoutMs: wholeMs, signal: stop.signal }))();
    try {
      return await within(handled, {
        clock,
        name: method,
        timeoutMs,
        signal: [signal, stop.signal],
        onLate: (reply) => {
          if (reply !== undefined) onDropped(replyError("came late"));
        },
      });
    } catch (error) {
      stop.abort(error);
      throw toReplyError(error, message);
    } finally {
      inProgress.delete(stop);
    }
  };

  const line: Line = {
    window: 1,
    // Whatever comes back belongs to the message that was posted.
    unexpected: { count: 0, last: undefined },
    async request(method, params, call) {
      const id = String(++lastId);
      return resultOf(await post(method, { jsonrpc: "2.0", id, method, params }, call), id);
    },
    async notify(method, params) {
      const message = { jsonrpc: "2.0", method, params };
      const posted = post(method, message, { timeoutMs: notifyTimeoutMs() }).catch((error: unknown) => {
        if (!isUnreadableReply(error)) throw error;
      });
      const refusal = refusalIn(await posted);
      if (refusal) throw refusal;
    },
    // Other messages in progress may still be answered.
    close() {},
  };
  return {
    reopens: true,
    open: async () => ({ ...line }),
    async close() {
      for (const stop of inProgress) stop.abort();
    },
  };
};
