import type { GraphStore } from "@harnesskit/graph";
import {
  type ChatTurnOutcome,
  CompletedTurnSchema,
  ErroredTurnSchema,
  type SuspensionSummary,
} from "@harnesskit/protocol/chat";
import { InvalidArgumentError, isThenable } from "@harnesskit/wire";
import * as z from "zod";
import { ChatHarnessError } from "./chat-harness-error.ts";
import { RecentSet } from "./recent-set.ts";
import type { OnWarning } from "./warning.ts";

/** The end of a resumed turn. */
export type ResumedTurn = Exclude<ChatTurnOutcome, { outcome: "suspended" }>;

/** A resumed turn that has ended, with where it belongs. */
export interface Delivery {
  readonly session_id: string;
  readonly invocation_id: string;
  readonly turn: ResumedTurn;
}

/** Told of the ends of resumed turns. A promise that it gives is when it has dealt with one. */
export type TurnListener = (turn: ResumedTurn, delivery: Delivery) => unknown;

export interface DeliveriesOptions {
  readonly store: GraphStore;
  readonly maxListeners: number;
  readonly warn: OnWarning;
}

interface Subscription {
  readonly listener: TurnListener;
  /** Invocations whose kept end it was told of, whether it took it or not. */
  readonly told: RecentSet;
}

const EndedTurnSchema = z.discriminatedUnion("outcome", [CompletedTurnSchema, ErroredTurnSchema]);
/** How many ends that a listener was told of are remembered for it. */
const maxTold = 1000;
/** How many ends are remembered that somebody has taken, stored or not. */
const maxTaken = 10_000;

const toDelivery = (record: SuspensionSummary): Delivery | undefined => {
  const parsed = EndedTurnSchema.safeParse(record.result);
  if (!parsed.success || record.session_id === null || record.status === "suspended") return undefined;
  return { session_id: record.session_id, invocation_id: record.invocation_id, turn: parsed.data };
};

/**
 * Brings the ends of resumed turns to whoever listens. An end is kept with its record until one listener has taken it, so that it
 * outlives the process; it may be told again by the next process where this one dies in between.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #subscriptions = new Map<string, Set<Subscription>>();
  /** By invocation whose end listeners are dealing with, how many groups of them were told of it. */
  readonly #taking = new Map<string, number>();
  /** Invocations whose end was taken: a list that was read before that was stored still has them. */
  readonly #taken = new RecentSet(maxTaken);
  #count = 0;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Adds a listener and tells it what nobody has taken yet. Throws `too_many_listeners`, or `invalid_argument`. */
  subscribe(sessionId: string, listener: TurnListener): () => void {
    const { maxListeners } = this.#options;
    if (typeof listener !== "function") throw new InvalidArgumentError("a listener is a function");
    if (this.#count >= maxListeners) {
      throw new ChatHarnessError("too_many_listeners", `maxListeners of ${maxListeners} is reached`);
    }
    const subscription: Subscription = { listener, told: new RecentSet(maxTold) };
    const subscriptions = this.#subscriptions.get(sessionId) ?? new Set();
    this.#subscriptions.set(sessionId, subscriptions.add(subscription));
    this.#count++;
    void this.#catchUp(sessionId, subscription);
    return () => {
      if (!subscriptions.delete(subscription)) return;
      this.#count--;
      if (subscriptions.size === 0) this.#subscriptions.delete(sessionId);
    };
  }

  async #catchUp(sessionId: string, subscription: Subscription): Promise<void> {
    try {
      for (const delivery of await this.list(sessionId)) {
        if (this.#subscriptions.get(sessionId)?.has(subscription)) this.#tell(delivery, [subscription]);
      }
    } catch (cause) {
      const message = "what is not delivered yet cannot be read";
      this.#options.warn({ kind: "delivery_failed", message, cause });
    }
  }

  /** What nobody has taken yet. Rejects as the store does. */
  async list(sessionId?: string): Promise<Delivery[]> {
    const filter = sessionId === undefined ? {} : { sessionId };
    const records = await this.#options.store.suspensions.list({ ...filter, isDelivered: false });
    return records.flatMap((record) => {
      const delivery = toDelivery(record);
      return delivery === undefined || this.#isTaken(delivery) ? [] : [delivery];
    });
  }

  #isTaken({ invocation_id: id }: Delivery): boolean {
    return this.#taking.has(id) || this.#taken.has(id);
  }

  #listenersOf({ session_id: id }: Delivery): readonly Subscription[] {
    return [...(this.#subscriptions.get(id) ?? [])];
  }

  /**
   * Tells the listeners of the session, those left out that know of it already: one that came while the turn ended may have
   * found it kept. Gives how many were told.
   */
  deliver(delivery: Delivery): number {
    return this.#tell(delivery, this.#listenersOf(delivery));
  }

  /** Tells the listeners of a session of an end that is not kept; the turn may end once more, and is told again then. */
  announce(delivery: Delivery): void {
    for (const subscription of this.#listenersOf(delivery)) {
      this.#call(subscription, delivery).catch(() => {});
    }
  }

  #tell(delivery: Delivery, subscriptions: readonly Subscription[]): number {
    const { invocation_id: id } = delivery;
    const fresh = subscriptions.filter(({ told }) => !told.has(id));
    if (fresh.length === 0) return 0;
    this.#enter(id);
    for (const { told } of fresh) told.add(id);
    void Promise.any(fresh.map((subscription) => this.#call(subscription, delivery))).then(
      async () => {
        await this.mark(id);
        this.#leave(id);
      },
      () => {
        this.#leave(id);
        // For those who came meanwhile, and were not told because somebody was about to take it.
        if (!this.#isTaken(delivery)) this.deliver(delivery);
      },
    );
    return fresh.length;
  }

  #enter(id: string): void {
    this.#taking.set(id, (this.#taking.get(id) ?? 0) + 1);
  }

  #leave(id: string): void {
    const others = (this.#taking.get(id) ?? 1) - 1;
    if (others > 0) this.#taking.set(id, others);
    else this.#taking.delete(id);
  }

  /** Calls a listener, unless one before it has taken it back. Rejects where it did not take the end. */
  #call(subscription: Subscription, delivery: Delivery): Promise<unknown> {
    const { listener } = subscription;
    const failed = (cause: unknown) => {
      this.#options.warn({ kind: "listener_failed", message: "a listener of a session threw", cause });
      return Promise.reject(cause);
    };
    if (!this.#subscriptions.get(delivery.session_id)?.has(subscription)) return Promise.reject();
    try {
      const taken = listener(delivery.turn, delivery);
      return isThenable(taken) ? Promise.resolve(taken).catch(failed) : Promise.resolve();
    } catch (cause) {
      return failed(cause);
    }
  }

  /** Stores that an end was taken. Where that fails it is a warning, and the end is not told again by this process. */
  async mark(invocationId: string): Promise<void> {
    this.#taken.add(invocationId);
    try {
      await this.#options.store.suspensions.save({ kind: "patch", invocationId, isDelivered: true });
    } catch (cause) {
      this.#unstored(cause);
    }
  }

  /** The same for an id from outside: what has not ended, or is not known, is left alone. */
  async acknowledge(invocationId: string): Promise<void> {
    try {
      const record = await this.#options.store.suspensions.load(invocationId);
      if (record === null || record.status === "suspended" || record.is_delivered) return;
    } catch (cause) {
      return this.#unstored(cause);
    }
    await this.mark(invocationId);
  }

  #unstored(cause: unknown): void {
    const message = "that a turn was delivered cannot be stored";
    this.#options.warn({ kind: "delivery_failed", message, cause });
  }

  /**
   * The ends of a session that no listener has taken, oldest first, for a caller that hands them on: until it calls
   * {@link take} or {@link giveBack}, they go to no listener. Rejects as the store does.
   */
  async claim(sessionId: string): Promise<readonly Delivery[]> {
    const deliveries = await this.list(sessionId);
    for (const { invocation_id: id } of deliveries) this.#enter(id);
    return deliveries;
  }

  /** Stores that claimed ends were taken. */
  async take(claimed: readonly Delivery[]): Promise<void> {
    for (const { invocation_id: id } of claimed) {
      await this.mark(id);
      this.#leave(id);
    }
  }

  /** Has claimed ends go to listeners again. */
  giveBack(claimed: readonly Delivery[]): void {
    for (const delivery of claimed) {
      this.#leave(delivery.invocation_id);
      if (!this.#isTaken(delivery)) this.deliver(delivery);
    }
  }
}
