import { type Clock, type Exchange, type FrameTooLargeError, HarnessError } from "@harnesskit/wire";
import { Ending } from "./ending.ts";
import { isUnreadableReply, noAnswer, refusalIn, resultOf } from "./exchange-reply.ts";
import type { Line, LineRequestOptions, LineSource, OnDropped } from "./line.ts";
import type { Stop } from "./stop.ts";
import { within } from "./within.ts";

/** What an exchange is told about each message. */
export interface ExchangeCall {
  /** Aborts when nobody waits for the reply any more. */
  readonly signal: AbortSignal;
  /** The same without a signal, for an exchange that can do with less: registers its listener, and returns what takes it back. */
  readonly onGiveUp: (listener: (reason: unknown) => void) => () => void;
  /** How long the reply is waited for, in whole milliseconds; at least 1. */
  readonly timeoutMs: number;
}

/** One message out, one reply back or none: `createHttpExchange` of transport-http is one. It may reject. */
export type AhpExchange = Exchange<ExchangeCall>;

/** A class, because a literal with a getter would have a hidden class of its own each time, which keeps the message alive. */
class Posted implements ExchangeCall {
  readonly timeoutMs: number;
  readonly onGiveUp: ExchangeCall["onGiveUp"];
  readonly #stop: Stop;

  constructor(timeoutMs: number, stop: Stop) {
    this.timeoutMs = timeoutMs;
    this.onGiveUp = stop.onGiveUp;
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
}

export interface ExchangeLineOptions {
  readonly clock: Clock;
  /** How long a notification may take. */
  readonly notifyTimeoutMs: () => number;
  readonly onDropped: OnDropped;
}

/** No timer waits longer than this. */
const maxTimeoutMs = 2 ** 31 - 1;

/** An exchange says `frame_too_large` of a message and of its reply; what was refused unsent is told apart by its size. */
const toReplyError = (error: unknown, message: unknown): unknown => {
  if (!HarnessError.isInstance(error) || error.code !== "frame_too_large") return error;
  const { maxFrameBytes } = error as FrameTooLargeError;
  const bytes = new TextEncoder().encode(JSON.stringify(message)).length;
  return bytes > maxFrameBytes ? error : noAnswer("is too large", error);
};

/**
 * The lines over an exchange. There is no connection to lose, so that one is never over by itself: whoever calls learns
 * that nobody is there. The exchange stays its owner's to close.
 */
export const exchangeSource = (exchange: AhpExchange, options: ExchangeLineOptions): LineSource => {
  const { clock, notifyTimeoutMs, onDropped } = options;
  const end = new Ending();
  let lastId = 0;

  /** Hands one message over. Settles by its deadline whatever the exchange does; what it says later is dropped. */
  const post = (method: string, message: unknown, { timeoutMs, signal }: LineRequestOptions) => {
    const whole = Math.min(Math.max(1, Math.ceil(timeoutMs)), maxTimeoutMs);
    const run = async (stop: Stop) => exchange.handle(message, new Posted(whole, stop));
    return within(run, {
      clock,
      name: method,
      timeoutMs,
      signal,
      end,
      onLate: (reply) => {
        if (reply !== undefined) onDropped(noAnswer("came late"));
      },
    }).catch((error: unknown) => {
      throw toReplyError(error, message);
    });
  };

  const open = (): Line => ({
    window: 1,
    // Whatever comes back belongs to the message that was posted.
    nonsense: 0,
    lastNonsense: undefined,
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
    // What else is under way may still be answered.
    discard() {},
  });
  return { reopens: true, open: async () => open(), close: async () => end.end() };
};
