import type { EventBody, Turn } from "@harnesskit/protocol/threads";
import { createDeferred, type HarnessError, sharedSignal } from "@harnesskit/wire";
import { inSpan, type Span } from "@harnesskit/wire/trace";
import type { ApprovalHandler } from "./approval-calls.ts";
import { EventQueue, type EventQueueOwner } from "./event-queue.ts";

/** How a turn ended. */
export type TurnResult =
  | { readonly status: "completed" | "cancelled"; readonly turn: Turn }
  | {
      readonly status: "error";
      readonly turn: Turn;
      /** A sentence for people. */
      readonly error: string;
      /** The same for programs. */
      readonly code: string;
    };

/**
 * A turn that this client started. Iterating gives its events from the first one on, each once and in order, and stops
 * after `turn.completed`, `turn.error` or `turn.dequeued`; it throws `connection_closed` if the connection is lost for good before. One
 * loop at a time; a loop that is left does not cancel the turn, and another one goes on where it stopped.
 */
export interface TurnHandle extends AsyncIterable<EventBody> {
  readonly turnId: string;
  readonly threadId: string;
  /**
   * Where it waited in the queue when the server answered, from 1: its first event is then `turn.queued`, or `turn.started`
   * once it begins. Undefined for a turn that began at once.
   */
  readonly position: number | undefined;
  /**
   * How the turn ended. A turn that ended in an error is a result and no rejection. Rejects with `connection_closed`
   * when the connection is lost for good before the end. Needs no reader of the events.
   */
  readonly result: Promise<TurnResult>;
  /**
   * Asks the server to cancel the turn; the end comes as `turn.completed` with the status `cancelled`, that of a turn which
   * waits in the queue as `turn.dequeued`: its result is `cancelled`, too. Settles when
   * the server has accepted. Does nothing for a turn that has ended. Rejects with the errors of a call.
   */
  cancel(): Promise<void>;
  /** Deltas that were lost because no loop read the events (`maxBufferedEvents`). What they said is in `item.completed`. */
  readonly droppedDeltas: number;
  /** Other events that were lost in the same way. `getThread` has them all. */
  readonly droppedItems: number;
}

export interface LiveTurnOptions {
  readonly turnId: string;
  readonly threadId: string;
  readonly position: number | undefined;
  readonly onApproval: ApprovalHandler | undefined;
  readonly signal: AbortSignal | undefined;
  /** Sends `turn.cancel` for the thread. */
  readonly cancel: () => Promise<void>;
  /** Called once, when nothing more of the turn is awaited; with what it failed with. */
  readonly onEnd: (error?: unknown) => void;
  readonly span: Span | undefined;
}

/** The client's side of one turn. */
export class LiveTurn implements TurnHandle {
  readonly turnId: string;
  readonly threadId: string;
  readonly position: number | undefined;
  readonly result: Promise<TurnResult>;
  readonly #client: EventQueueOwner;
  readonly #options: LiveTurnOptions;
  readonly #events: EventQueue;
  readonly #result = createDeferred<TurnResult>();
  #ended = false;
  #cancelling: Promise<void> | undefined;

  constructor(client: EventQueueOwner, options: LiveTurnOptions) {
    const { turnId, threadId, position } = options;
    this.turnId = turnId;
    this.threadId = threadId;
    this.position = position;
    this.result = this.#result.promise;
    this.#client = client;
    this.#options = options;
    this.#events = new EventQueue(client);
  }

  /** Cancels the turn when its caller's signal aborts. To be called once, when what was held has been taken. */
  watchSignal(): void {
    const { signal } = this.#options;
    if (this.#ended || !signal) return;
    if (signal.aborted) this.#onAbort();
    else sharedSignal(signal).addEventListener("abort", this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The turn's own approver. `none` for a turn that its caller has given up. */
  get approver(): ApprovalHandler | "none" | undefined {
    return this.#options.signal?.aborted ? "none" : this.#options.onApproval;
  }

  get droppedDeltas(): number {
    return this.#events.droppedDeltas;
  }

  get droppedItems(): number {
    return this.#events.droppedItems;
  }

  /** Counts what was lost before the turn's id was known. */
  addDropped(lost: { droppedDeltas: number; droppedItems: number }): void {
    this.#events.addDropped(lost);
  }

  /** Does what an event of the turn asks for, such as answering an approval, as a part of it. */
  within(work: () => void): void {
    inSpan(this.#options.span, work);
  }

  /** Takes an event of this turn. What comes after the end is ignored. */
  accept(event: EventBody): void {
    if (this.#ended) return;
    this.#events.push(event);
    if (event.type === "turn.completed") {
      const { status, turn } = event.data;
      this.#end();
      this.#result.resolve({ status, turn });
    } else if (event.type === "turn.dequeued") {
      this.#end();
      this.#result.resolve({ status: "cancelled", turn: event.data.turn });
    } else if (event.type === "turn.error") {
      const { turn, error, code } = event.data;
      this.#end(undefined, { code });
      this.#result.resolve({ status: "error", turn, error, code });
    }
  }

  /** The connection is lost before the end. */
  lose(error: HarnessError): void {
    if (this.#ended) return;
    this.#end(error);
    this.#result.reject(error);
  }

  cancel(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#cancelling ??= this.#options.cancel().finally(() => {
      this.#cancelling = undefined;
    });
    return this.#cancelling;
  }

  [Symbol.asyncIterator](): AsyncIterator<EventBody, undefined> {
    return this.#events[Symbol.asyncIterator]();
  }

  #end(error?: HarnessError, failure: unknown = error): void {
    this.#ended = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#events.end(error);
    this.#options.onEnd(failure);
  }

  readonly #onAbort = (): void => {
    this.cancel().catch((error: HarnessError) => {
      if (!this.#ended) this.#client.report(error);
    });
  };
}
