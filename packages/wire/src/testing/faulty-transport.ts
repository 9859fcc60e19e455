import type { Channel, ChannelHandlers, CloseReason, Transport } from "../channel.ts";
import { createDeferred, type Deferred } from "../deferred.ts";
import { type HarnessError, InvalidMessageError, TransportError } from "../errors.ts";

/** What goes wrong with one message. */
export type FaultKind =
  /** It never arrives; who sent it is not told. */
  | "drop"
  /** It arrives twice. */
  | "duplicate"
  /** It arrives when {@link FaultyTransport.release} is called; later ones overtake it. */
  | "delay"
  /** A receiver is told of an `invalid_message` in its place; the other side gets a text that is no message. */
  | "garble"
  /** The connection is cut in its place. */
  | "close_before"
  /** It arrives, then the connection is cut. */
  | "close_after"
  /** Only for sending: `send` rejects with `transport_failed`, and it never arrives. */
  | "fail";

export interface Fault {
  /** Seen from who connected. */
  readonly direction: "send" | "receive";
  /** Which message, from 0, counted in its direction over all connections. */
  readonly index: number;
  readonly kind: FaultKind;
}

export interface FaultyTransport<Context = unknown> extends Transport<Context> {
  /** Lets everything pass that is delayed, in order. */
  release(): void;
  /** Messages that are delayed at the moment. */
  readonly delayed: number;
}

/** Which fault meets which message, and what is delayed. */
class FaultPlan {
  readonly #faults = new Map<string, FaultKind>();
  readonly #counts = { send: 0, receive: 0 };
  readonly #delayed: (() => void)[] = [];

  constructor(faults: readonly Fault[]) {
    for (const { direction, index, kind } of faults) this.#faults.set(`${direction} ${index}`, kind);
  }

  next(direction: "send" | "receive"): FaultKind | undefined {
    return this.#faults.get(`${direction} ${this.#counts[direction]++}`);
  }

  delay(pass: () => void): void {
    this.#delayed.push(pass);
  }

  get delayed(): number {
    return this.#delayed.length;
  }

  release(): void {
    for (const pass of this.#delayed.splice(0)) pass();
  }
}

const cutError = () => new TransportError("cut by a fault");

class FaultyChannel<Context> implements Channel<Context> {
  readonly #inner: Channel<Context>;
  readonly #plan: FaultPlan;
  #cut = false;

  constructor(inner: Channel<Context>, plan: FaultPlan) {
    this.#inner = inner;
    this.#plan = plan;
  }

  get context(): Context {
    return this.#inner.context;
  }

  get closed(): Promise<CloseReason> {
    return this.#inner.closed;
  }

  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  close(error?: HarnessError): Promise<void> {
    return this.#inner.close(error);
  }

  async send(message: unknown): Promise<void> {
    switch (this.#plan.next("send")) {
      case undefined:
        return this.#inner.send(message);
      case "drop":
        return;
      case "duplicate":
        await Promise.all([this.#inner.send(message), this.#inner.send(message)]);
        return;
      case "delay":
        return this.#sendLater(message);
      case "garble":
        return this.#inner.send("\ufffdgarbled\ufffd");
      case "fail":
        throw new TransportError("failed by a fault");
      case "close_before":
        void this.#inner.close(cutError());
        return this.#inner.send(message);
      case "close_after": {
        const sent = this.#inner.send(message);
        void this.#inner.close(cutError());
        return sent;
      }
    }
  }

  start(handlers: ChannelHandlers): void {
    this.#inner.start({
      message: (message) => this.#receive(message, handlers),
      error: (error) => handlers.error(error),
      ...(handlers.end && { end: () => handlers.end?.() }),
      close: (reason) => handlers.close(reason),
    });
  }

  #sendLater(message: unknown): Promise<void> {
    const sent: Deferred<void> = createDeferred();
    this.#plan.delay(() => this.#inner.send(message).then(sent.resolve, sent.reject));
    return sent.promise;
  }

  async #receiveTwice(message: unknown, handlers: ChannelHandlers): Promise<void> {
    await handlers.message(message);
    await handlers.message(structuredClone(message));
  }

  #receive(message: unknown, handlers: ChannelHandlers): void | Promise<void> {
    if (this.#cut) return;
    switch (this.#plan.next("receive")) {
      case "drop":
        return;
      case "duplicate":
        return this.#receiveTwice(message, handlers);
      case "delay":
        this.#plan.delay(() => {
          if (!this.#cut && !this.signal.aborted) void handlers.message(message);
        });
        return;
      case "garble":
        handlers.error(new InvalidMessageError("not_json", "garbled by a fault"));
        return;
      case "close_before":
        this.#cut = true;
        void this.#inner.close(cutError());
        return;
      case "close_after": {
        const handled = handlers.message(message);
        this.#cut = true;
        void this.#inner.close(cutError());
        return handled;
      }
      default:
        return handlers.message(message);
    }
  }
}

/**
 * Wraps a transport so that chosen messages meet chosen faults, the same ones in every run. `connect` rejects as the
 * inner transport's does.
 */
export const createFaultyTransport = <Context>(
  inner: Transport<Context>,
  faults: readonly Fault[],
): FaultyTransport<Context> => {
  const plan = new FaultPlan(faults);
  return {
    connect: async (options) => new FaultyChannel(await inner.connect(options), plan),
    release: () => plan.release(),
    get delayed() {
      return plan.delayed;
    },
  };
};
