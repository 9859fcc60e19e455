import type { GraphStore } from "@harnesskit/graph";
import type { ChatTurnOutcome, SuspensionSummary } from "@harnesskit/protocol/chat";
import { BoundedSet, InvalidArgumentError } from "@harnesskit/wire";
import { ChatHarnessError, type OnError } from "./errors.ts";

/** The end of a resumed turn. */
export type ResumedTurn = Exclude<ChatTurnOutcome, { outcome: "suspended" }>;

/** A resumed turn that has ended, with its session and invocation. */
export interface Delivery {
  readonly session_id: string;
  readonly invocation_id: string;
  readonly turn: ResumedTurn;
}

/** Receives the ends of resumed turns. A turn is delivered when the listener returns, or the promise that it returns resolves. */
export type TurnListener = (turn: ResumedTurn, delivery: Delivery) => unknown;

interface Subscription {
  readonly listener: TurnListener;
  isRemoved: boolean;
  /** Invocations whose end the listener has received, whether it failed or not. */
  readonly received: BoundedSet<string>;
}

/** How many received ends are remembered for a listener. */
const maxReceived = 1000;
/** How many delivered ends are remembered, stored or not. */
const maxDelivered = 10_000;

/** The end of a record; none for one that a harness has not stored. */
const toDelivery = ({ session_id, invocation_id, status, result }: SuspensionSummary): Delivery[] => {
  const turn = result as unknown as ResumedTurn | null;
  const isEnd = turn?.outcome === "completed" || turn?.outcome === "errored";
  return isEnd && session_id !== null && status !== "suspended" ? [{ session_id, invocation_id, turn }] : [];
};

/**
 * Delivers the ends of resumed turns to listeners. An end is stored with its record until one listener has taken it, so that it
 * outlives the process; after a crash in between, the next process may deliver it again.
 */
export class Deliveries {
  readonly #store: GraphStore;
  readonly #maxListeners: number;
  readonly #onError: OnError;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  /** By invocation whose end is being delivered, how many groups of listeners are at it. */
  readonly #delivering = new Map<string, number>();
  /** Invocations whose end was delivered: a list that was read before this was stored still has them. */
  readonly #delivered = new BoundedSet<string>({ maxSize: maxDelivered });
  #listeners = 0;

  constructor(store: GraphStore, maxListeners: number, onError: OnError) {
    this.#store = store;
    this.#maxListeners = maxListeners;
    this.#onError = onError;
  }

  /** Adds a listener, which first receives what is not delivered yet. Throws `too_many_listeners`, or `invalid_argument`. */
  subscribe(sessionId: string, listener: TurnListener): () => void {
    if (typeof listener !== "function") throw new InvalidArgumentError("a listener must be a function");
    if (this.#listeners >= this.#maxListeners) {
      throw new ChatHarnessError("too_many_listeners", `maxListeners of ${this.#maxListeners} is reached`);
    }
    const received = new BoundedSet<string>({ maxSize: maxReceived });
    const subscription = { listener, received, isRemoved: false };
    const subscriptions = this.#subscriptions.get(sessionId) ?? new Set();
    this.#subscriptions.set(sessionId, subscriptions.add(subscription));
    this.#listeners++;
    const catchUp = () => void this.#catchUp(sessionId, subscription);
    // Turns of the session also end in other processes.
    const stopWatching = this.#store.suspensions.watchEnds?.(sessionId, catchUp);
    catchUp();
    return () => {
      if (subscription.isRemoved) return;
      subscription.isRemoved = true;
      stopWatching?.();
      subscriptions.delete(subscription);
      this.#listeners--;
      if (subscriptions.size === 0) this.#subscriptions.delete(sessionId);
    };
  }

  async #catchUp(sessionId: string, subscription: Subscription): Promise<void> {
    try {
      for (const delivery of await this.list(sessionId)) {
        if (!subscription.isRemoved) this.#deliverTo(delivery, [subscription]);
      }
    } catch (cause) {
      this.#reportFailure("the turns that are not delivered cannot be read", cause);
    }
  }

  /** What is not delivered yet. Rejects as the store does. */
  async list(sessionId?: string): Promise<Delivery[]> {
    const records = await this.#store.suspensions.list({ sessionId, isDelivered: false });
    const isOpen = ({ invocation_id: id }: Delivery) => !this.#delivering.has(id) && !this.#delivered.has(id);
    return records.flatMap(toDelivery).filter(isOpen);
  }

  /** Delivers to the listeners of the session that have not received it. Returns how many there are. */
  deliver(delivery: Delivery): number {
    return this.#deliverTo(delivery, [...(this.#subscriptions.get(delivery.session_id) ?? [])]);
  }

  #deliverTo(delivery: Delivery, subscriptions: readonly Subscription[]): number {
    const { invocation_id: id } = delivery;
    const fresh = subscriptions.filter(({ received }) => !received.has(id));
    if (fresh.length === 0) return 0;
    this.#delivering.set(id, (this.#delivering.get(id) ?? 0) + 1);
    const leave = () => {
      const left = (this.#delivering.get(id) ?? 0) - 1;
      if (left > 0) this.#delivering.set(id, left);
      else this.#delivering.delete(id);
      return left === 0;
    };
    for (const { received } of fresh) received.add(id);
    void Promise.any(fresh.map((subscription) => this.#call(subscription, delivery))).then(
      async () => {
        await this.#mark(id);
        leave();
      },
      () => {
        // Listeners may have come meanwhile.
        if (leave() && !this.#delivered.has(id)) this.deliver(delivery);
      },
    );
    return fresh.length;
  }

  /** Calls a listener, unless it was removed meanwhile. Rejects if it did not take the end. */
  async #call(subscription: Subscription, delivery: Delivery): Promise<void> {
    if (subscription.isRemoved) throw new ChatHarnessError("turn_cancelled", "unsubscribed");
    try {
      await subscription.listener(delivery.turn, delivery);
    } catch (cause) {
      this.#onError(cause, { kind: "listener_failed", message: "a listener of a session failed" });
      throw cause;
    }
  }

  async #mark(invocationId: string): Promise<void> {
    this.#delivered.add(invocationId);
    try {
      await this.#store.suspensions.save({ kind: "patch", invocationId, isDelivered: true });
    } catch (cause) {
      this.#reportFailure("that a turn was delivered cannot be stored", cause);
    }
  }

  /** Stores that an end needs no delivery any more. Does nothing for an invocation that is unknown or has not ended. */
  async acknowledge(invocationId: string): Promise<void> {
    try {
      const record = await this.#store.suspensions.load(invocationId);
      if (record === null || record.status === "suspended" || record.is_delivered) return;
    } catch (cause) {
      return this.#reportFailure("that a turn was delivered cannot be stored", cause);
    }
    await this.#mark(invocationId);
  }

  #reportFailure(message: string, cause: unknown): void {
    this.#onError(cause, { kind: "delivery_failed", message });
  }
}
