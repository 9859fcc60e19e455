import type { Event, EventBody, Item } from "@harnesskit/protocol/threads";
import { createDeferred, type Deferred } from "@harnesskit/wire";
import { isLogChanged } from "./errors.ts";
import type { ThreadSession } from "./thread-session.ts";

interface Entry {
  body: EventBody;
  /** Part of a message or an output that is streamed. */
  readonly isStreamed: boolean;
  readonly done: Deferred<void>;
}

const isStreamed = ({ type, data }: EventBody): boolean =>
  type === "item.delta" ||
  ((type === "item.started" || type === "item.completed") && data.type === "assistant_message");

/** True for an event that is flushed to disk: approvals, the start of a tool, and the ends of items and turns. */
const isBoundary = ({ type, data }: EventBody): boolean => {
  if (type === "item.delta") return false;
  return (type !== "item.started" && type !== "item.updated") || isExecution(data.item);
};

/** A tool that runs by itself from here on: what it does must not be unknown to the log after a power loss. */
const isExecution = (item: Item): boolean => item.type === "tool_exec" && item.data?.status === "running";

/** The events that follow the one of this number. */
export const toEvents = (bodies: readonly EventBody[], lastSeq: number, time: number): Event[] =>
  bodies.map((body, index) => ({ seq: lastSeq + 1 + index, time, ...body }) as Event);

/**
 * The one writer of a thread's events: numbers them, writes them, and only then tells of them. What comes during a
 * write leaves with the next one, consecutive deltas of an item as one.
 */
export class EventLog {
  readonly #session: ThreadSession;
  #queue: Entry[] = [];
  #writing: Promise<void> | undefined;
  #lastSeq: number;

  constructor(session: ThreadSession) {
    this.#session = session;
    this.#lastSeq = session.state.lastSeq;
  }

  /**
   * Writes an event. Settles when it is stored. Rejects with the store's error, and then the event does not exist.
   */
  append(body: EventBody): Promise<void> {
    const last = this.#queue.at(-1);
    if (last && mergeDelta(last, body)) return last.done.promise;
    const entry: Entry = { body, isStreamed: isStreamed(body), done: createDeferred<void>() };
    this.#queue.push(entry);
    this.#writing ??= this.#writeAll();
    return entry.done.promise;
  }

  /** True while something that was appended is not stored yet. */
  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** Settles when everything appended so far was written or refused. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // One turn of the microtask queue: what is appended in one go is written in one go.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      // What a model's stream brings at once comes in many microtasks, and so does what follows its end.
      if (this.#queue.at(-1)?.isStreamed) await new Promise((done) => setImmediate(done));
      const entries = this.#queue;
      this.#queue = [];
      await this.#write(entries);
    }
    this.#writing = undefined;
  }

  async #write(entries: Entry[]): Promise<void> {
    const session = this.#session;
    const { store, clock } = session.settings;
    const time = clock.now();
    const bodies = entries.map(({ body }) => body);
    const events = toEvents(bodies, this.#lastSeq, time);
    try {
      await store.append(session.threadId, events, { flush: bodies.some(isBoundary) });
    } catch (error) {
      // What was appended meanwhile was meant to follow what is now missing.
      for (const { done } of [...entries, ...this.#queue.splice(0)]) done.reject(error);
      if (isLogChanged(error)) session.lose(error);
      return;
    }
    this.#lastSeq += events.length;
    for (const [index, event] of events.entries()) {
      session.onEvent(event);
      entries[index]?.done.resolve();
    }
  }
}

/** Adds a delta to the one of the same item that still waits. */
const mergeDelta = (last: Entry, body: EventBody): boolean => {
  if (body.type !== "item.delta" || last.body.type !== "item.delta") return false;
  if (last.body.data.itemId !== body.data.itemId) return false;
  last.body = { type: "item.delta", data: { ...body.data, delta: last.body.data.delta + body.data.delta } };
  return true;
};
