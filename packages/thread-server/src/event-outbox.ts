import type { Event } from "@harnesskit/protocol/threads";
import { type Channel, createDeferred, HarnessError } from "@harnesskit/wire";
import type { Peer } from "@harnesskit/wire/rpc";
import { logChanged } from "./errors.ts";
import type { ThreadSessions } from "./thread-sessions.ts";

interface Parked {
  /** The last number that was sent. */
  after: number;
  /** The last number that was written. */
  latest: number;
}

/** How many events of a log are looked at together. */
const windowEvents = 1000;

/**
 * The notifications that one client has not received yet. While the client keeps up, events leave as they come. While it does not, they wait
 * here; when too much waits, the client is parked: what waits is forgotten, and read from the log once the client reads again, without the
 * deltas of items that are complete by then. No event is lost, and no other client waits.
 */
export class EventOutbox {
  readonly #peer: Pick<Peer, "notify">;
  readonly #channel: Pick<Channel, "close">;
  readonly #sessions: Pick<ThreadSessions, "settings" | "events">;
  readonly #parked = new Map<string, Parked>();
  #waiting: Event[] = [];
  #length = 0;
  #sending = false;
  #held: Promise<void> | undefined;

  constructor(
    peer: Pick<Peer, "notify">,
    channel: Pick<Channel, "close">,
    sessions: Pick<ThreadSessions, "settings" | "events">,
  ) {
    this.#peer = peer;
    this.#channel = channel;
    this.#sessions = sessions;
  }

  /**
   * Sends nothing until the returned function is called. The reply to a request goes out in between, before the
   * notifications that the request causes.
   */
  hold(): () => void {
    const { promise, resolve } = createDeferred<void>();
    this.#held = promise;
    return () => {
      this.#held = undefined;
      resolve();
    };
  }

  /** Notifies of something that is not in the log. */
  async notify({ type, data }: { readonly type: string; readonly data: object }): Promise<void> {
    await this.#held;
    await this.#peer.notify(type, data);
  }

  /** Takes an event that was just written. */
  push(event: Event): void {
    const parked = this.#parked.get(event.data.threadId);
    if (parked) {
      parked.latest = event.seq;
      return;
    }
    this.#waiting.push(event);
    this.#length += eventLength(event);
    if (this.#length > this.#sessions.settings.limits.maxOutboxLength) this.#park();
    if (!this.#sending) void this.#send();
  }

  /** Sends the past of a thread from its log, then what comes. `latest` is the number of its last event. */
  replay(threadId: string, after: number, latest: number): void {
    this.forget(threadId);
    if (after >= latest) return;
    this.#parked.set(threadId, { after, latest });
    if (!this.#sending) void this.#send();
  }

  /** Sends nothing more of what waits of this thread. */
  forget(threadId: string): void {
    this.#parked.delete(threadId);
    this.#waiting = this.#waiting.filter((event) => event.data.threadId !== threadId);
    this.#length = 0;
    for (const event of this.#waiting) this.#length += eventLength(event);
  }

  /** Hands over what waits without waiting for what was handed over before: the connection is going to be closed. */
  flush(): void {
    const events = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    this.#hand(events).catch((error: unknown) => this.#fail(error));
  }

  /** Forgets what waits and notes from where each thread has to be read. */
  #park(): void {
    for (const { seq, data } of this.#waiting) {
      const parked = this.#parked.get(data.threadId);
      if (parked) parked.latest = seq;
      else this.#parked.set(data.threadId, { after: seq - 1, latest: seq });
    }
    this.#waiting = [];
    this.#length = 0;
  }

  /** One batch after the other: the next leaves when the channel has passed the last one on. */
  async #send(): Promise<void> {
    this.#sending = true;
    try {
      for (;;) {
        // What is held stays in the queue, so that a replay can still take its place.
        await this.#held;
        if (this.#waiting.length > 0) {
          const events = this.#waiting;
          this.#waiting = [];
          this.#length = 0;
          await this.#hand(events);
          continue;
        }
        const [next] = this.#parked;
        if (!next) return;
        await this.#catchUp(...next);
      }
    } catch (error) {
      this.#waiting = [];
      this.#parked.clear();
      this.#fail(error);
    } finally {
      this.#sending = false;
    }
  }

  /** The client can no longer be served. */
  #fail(error: unknown): void {
    if (HarnessError.isInstance(error) && error.code === "connection_closed") return;
    this.#sessions.settings.onError(error);
    void this.#channel.close(HarnessError.isInstance(error) ? error : undefined);
  }

  async #hand(events: readonly Event[]): Promise<void> {
    await Promise.all(events.map((event) => this.#notify(event)));
  }

  async #notify({ type, data, seq, time }: Event): Promise<void> {
    try {
      await this.#peer.notify(type, { ...data, seq, time });
    } catch (error) {
      // The client goes on behind an event that exceeds its messages.
      if (!HarnessError.isInstance(error) || error.code !== "frame_too_large") throw error;
      this.#sessions.settings.onError(error);
    }
  }

  /** Reads the log up to what was passed on until now, a window at a time. Then the thread is live again. */
  async #catchUp(threadId: string, parked: Parked): Promise<void> {
    let window: Event[] = [];
    let length = 0;
    const { latest } = parked;
    for await (const event of this.#sessions.events(threadId, { afterSeq: parked.after })) {
      if (this.#parked.get(threadId) !== parked) return;
      // Stored, but not passed on yet: it comes by itself.
      if (event.seq > parked.latest) break;
      window.push(event);
      length += eventLength(event);
      parked.after = event.seq;
      if (window.length < windowEvents && length < this.#sessions.settings.limits.maxOutboxLength) continue;
      await this.#held;
      if (this.#parked.get(threadId) !== parked) return;
      await this.#hand(withoutSuperseded(window));
      window = [];
      length = 0;
    }
    await this.#held;
    if (this.#parked.get(threadId) !== parked) return;
    if (window.length > 0) await this.#hand(withoutSuperseded(window));
    if (parked.after < latest && this.#parked.get(threadId) === parked) throw logChanged();
    if (parked.after >= parked.latest && this.#parked.get(threadId) === parked) this.#parked.delete(threadId);
  }
}

/** The events without the deltas of items that are completed later in the list: the completion carries the whole. */
const withoutSuperseded = (events: readonly Event[]): Event[] => {
  const completed = new Map<string, number>();
  for (const { type, data, seq } of events) if (type === "item.completed") completed.set(data.itemId, seq);
  return events.filter(
    ({ type, data, seq }) => type !== "item.delta" || seq > (completed.get(data.itemId) ?? 0),
  );
};

const eventLength = (event: Event): number =>
  event.type === "item.delta" ? event.data.delta.length + 200 : JSON.stringify(event.data).length;
