import type { GraphStore } from "@harnesskit/graph";
import {
  type ChatTurnOutcome,
  CompletedTurnSchema,
  ErroredTurnSchema,
  type SuspensionSummary,
} from "@harnesskit/protocol/chat";
import { InvalidArgumentError, isThenable } from "@harnesskit/wire";
import { z } from "zod";
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
  /** Invocations whose end it was told of and did not take. */
  readonly told: RecentSet;
}

const EndedTurnSchema = z.discriminatedUnion("outcome", [CompletedTurnSchema, ErroredTurnSchema]);
/** How many ends that a listener did not take are remembered for it. */
const maxTold = 1000;
/** How many ends are remembered whose delivery could not be stored. */
const maxUnmarked = 10_000;

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
  /** Invocations whose end is being taken, or was taken and could not be marked. */
  readonly #taking = new Set<string>();
  readonly #unmarked = new RecentSet(maxUnmarked);
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
    return this.#taking.has(id) || this.#unmarked.has(id);
  }

  /** Tells the listeners of the session. Gives how many there are. */
  deliver(delivery: Delivery): number {
    const subscriptions = [...(this.#subscriptions.get(delivery.session_id) ?? [])];
    if (subscriptions.length > 0 && !this.#isTaken(delivery)) this.#tell(delivery, subscriptions);
    return subscriptions.length;
  }

  #tell(delivery: Delivery, subscriptions: readonly Subscription[]): void {
    const { invocation_id: id } = delivery;
    const fresh = subscriptions.filter(({ told }) => !told.has(id));
    if (fresh.length === 0) return;
    this.#taking.add(id);
    void Promise.any(fresh.map((subscription) => this.#call(subscription, delivery))).then(
      () => this.mark(id),
      () => this.#taking.delete(id),
    );
  }

  /** Calls a listener. Rejects where it did not take it. */
  #call({ listener, told }: Subscription, delivery: Delivery): Promise<unknown> {
    const failed = (cause: unknown) => {
      told.add(delivery.invocation_id);
      this.#options.warn({ kind: "listener_failed", message: "a listener of a session threw", cause });
      return Promise.reject(cause);
    };
    try {
      const taken = listener(delivery.turn, delivery);
      return isThenable(taken) ? Promise.resolve(taken).catch(failed) : Promise.resolve();
    } catch (cause) {
      return failed(cause);
    }
  }

  /** Stores that an end was taken. Where that fails it is a warning, and the end is not told again by this process. */
  async mark(invocationId: string): Promise<void> {
    const { store, warn } = this.#options;
    try {
      await store.suspensions.save({ kind: "patch", invocationId, isDelivered: true });
      this.#unmarked.delete(invocationId);
    } catch (cause) {
      this.#unmarked.add(invocationId);
      warn({ kind: "delivery_failed", message: "that a turn was delivered cannot be stored", cause });
    } finally {
      this.#taking.delete(invocationId);
    }
  }

  /** The oldest end of a session that nobody has taken, taken now. Rejects as the store does. */
  async take(sessionId: string): Promise<Delivery | undefined> {
    const [delivery] = await this.list(sessionId);
    if (delivery === undefined) return undefined;
    this.#taking.add(delivery.invocation_id);
    await this.mark(delivery.invocation_id);
    return delivery;
  }
}
