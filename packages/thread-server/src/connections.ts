import type { Event, ModelRef } from "@harnesskit/protocol/threads";
import type { Channel, HarnessError } from "@harnesskit/wire";
import type { Peer } from "@harnesskit/wire/rpc";
import { EventOutbox } from "./event-outbox.ts";
import type { ThreadSessions } from "./thread-sessions.ts";
import type { TurnQueue } from "./turn-queue.ts";

/** Options of `connect` for one client. */
export interface ThreadConnectOptions {
  /**
   * Says whether this client may choose a model for a turn: throws a `ProtocolError` -32602 for one that it may not. A
   * turn that names none is not asked about. @default any model that the runner accepts
   */
  readonly checkModel?: ((model: ModelRef) => void | Promise<void>) | undefined;
}

/** One client. */
export class ConnectedClient {
  /** The name that it gave, or one made up for it: what `resolvedBy` shows. */
  label: string;
  /** The turns that it started and that have not ended, each with the queue of its thread. */
  readonly turns = new Map<string, TurnQueue>();
  readonly outbox: EventOutbox;
  /** The threads that it subscribed to. */
  readonly subscribed = new Set<string>();

  constructor(
    label: string,
    readonly peer: Peer,
    readonly channel: Channel,
    sessions: ThreadSessions,
    readonly options: ThreadConnectOptions = {},
  ) {
    this.label = label;
    this.outbox = new EventOutbox(peer, channel, sessions);
  }
}

/** The clients that are connected: each hears of the threads that it subscribed to, or of all before it ever did. */
export class Connections {
  readonly #sessions: ThreadSessions;
  readonly #all = new Set<ConnectedClient>();
  /** Those that have never subscribed. */
  readonly #hearingAll = new Set<ConnectedClient>();
  readonly #subscribers = new Map<string, Set<ConnectedClient>>();
  readonly #watchers = new Set<() => void>();
  #count = 0;

  constructor(sessions: ThreadSessions) {
    this.#sessions = sessions;
  }

  add(peer: Peer, channel: Channel, options?: ThreadConnectOptions): ConnectedClient {
    const label = `client-${++this.#count}`;
    const connection = new ConnectedClient(label, peer, channel, this.#sessions, options);
    this.#all.add(connection);
    this.#hearingAll.add(connection);
    const remove = () => {
      this.#all.delete(connection);
      this.#hearingAll.delete(connection);
      for (const threadId of connection.subscribed) this.#drop(connection, threadId);
      this.changed();
    };
    if (peer.signal.aborted) remove();
    else peer.signal.addEventListener("abort", remove, { once: true });
    this.changed();
    return connection;
  }

  /**
   * Sends a client what comes of a thread, whose last event has the number `lastSeq`; with `afterSeq`, what is behind that number
   * first. Without it, whatever waits for a client that heard the thread before still comes.
   */
  subscribe(client: ConnectedClient, threadId: string, lastSeq: number, afterSeq?: number): void {
    if (!this.#all.has(client)) return;
    this.#hearingAll.delete(client);
    client.subscribed.add(threadId);
    this.#subscribers.set(threadId, (this.#subscribers.get(threadId) ?? new Set()).add(client));
    if (afterSeq !== undefined) client.outbox.replay(threadId, afterSeq, lastSeq);
  }

  /** Ends a subscription. From here on the client hears only of what it subscribed to. */
  unsubscribe(client: ConnectedClient, threadId: string): void {
    this.#hearingAll.delete(client);
    this.#drop(client, threadId);
    client.outbox.forget(threadId);
  }

  /** Notifies all clients that hear of the thread. */
  notify(event: Event): void {
    for (const { outbox } of this.#hearing(event.data.threadId)) outbox.push(event);
    const ended = endedTurn(event);
    if (ended !== undefined) for (const { turns } of this.#all) turns.delete(ended);
  }

  /**
   * Closes the connections of the clients that hear a thread whose log has left this server in the middle of a turn: what
   * they heard may not be all, and when they connect again they hear what the log has. Where it is followed, those that subscribed hear it.
   */
  cut(threadId: string, error: HarnessError, isFollowed: boolean): void {
    for (const connection of this.#hearing(threadId)) {
      if (!isFollowed || !connection.subscribed.has(threadId)) void connection.channel.close(error);
    }
  }

  /** Tells that a thread is gone, and ends what was subscribed to it. */
  notifyDeleted(threadId: string): void {
    for (const client of this.#hearing(threadId)) {
      const { outbox } = client;
      outbox.forget(threadId);
      outbox.notify({ type: "thread.deleted", data: { threadId } }).catch(this.#sessions.settings.onError);
      this.#drop(client, threadId);
    }
    this.changed();
  }

  /** True while a client is there that could answer. */
  isAttended(threadId: string): boolean {
    return this.#hearing(threadId).length > 0;
  }

  /** True while a client has subscribed to this thread. */
  hasSubscriber(threadId: string): boolean {
    return this.#subscribers.has(threadId);
  }

  /** Calls back when a client connects or disconnects, or what clients subscribed to has changed. Returns what ends that. */
  onChange(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  /** Reports that a client connected or disconnected, or what clients subscribed to. */
  changed(): void {
    for (const callback of [...this.#watchers]) callback();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(({ peer }) => peer.close()));
  }

  #hearing(threadId: string): ConnectedClient[] {
    return [...this.#hearingAll, ...(this.#subscribers.get(threadId) ?? [])];
  }

  #drop(client: ConnectedClient, threadId: string): void {
    client.subscribed.delete(threadId);
    const subscribers = this.#subscribers.get(threadId);
    subscribers?.delete(client);
    if (subscribers?.size === 0) this.#subscribers.delete(threadId);
  }
}

/** The turn that ends with the event, begun or not. */
const endedTurn = ({ type, data }: Event): string | undefined =>
  type === "turn.completed" || type === "turn.error" || type === "turn.dequeued" ? data.turnId : undefined;
