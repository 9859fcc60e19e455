import type { EventBody, Turn } from "@harnesskit/protocol/threads";
import { createDeferred, type HarnessError, sharedSignal } from "@harnesskit/wire";
import { isConnectionLoss } from "@harnesskit/wire/rpc";
import { inSpan, type Span } from "@harnesskit/wire/trace";
import type { ApprovalHandler } from "./approval-calls.ts";
import { ThreadError } from "./errors.ts";
import { EventQueue } from "./event-queue.ts";
import type { ThreadSession } from "./thread-session.ts";

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
  /** Called once, when nothing more of the turn is awaited; with what it failed with. */
  readonly onEnd: (error?: unknown) => void;
  readonly span: Span | undefined;
}

/** The client's side of one turn. */
export class LiveTurn extends EventQueue implements TurnHandle {
  readonly turnId: string;
  readonly threadId: string;
  readonly position: number | undefined;
  readonly #client: ThreadSession;
  readonly #options: LiveTurnOptions;
  readonly #result = createDeferred<TurnResult>();
  #cancelling: Promise<void> | undefined;
  ended = false;

  constructor(client: ThreadSession, options: LiveTurnOptions) {
    super(client);
    this.turnId = options.turnId;
    this.threadId = options.threadId;
    this.position = options.position;
    this.#client = client;
    this.#options = options;
  }

  get result(): Promise<TurnResult> {
    return this.#result.promise;
  }

  /** Who decides on its approvals: no one for a turn that its caller has given up. */
  get approver(): ApprovalHandler | undefined {
    const { signal, onApproval = this.#client.options.onApproval } = this.#options;
    return signal?.aborted ? undefined : onApproval;
  }

  /** Cancels the turn when its caller's signal aborts. To be called once, when what was held has been taken. */
  watchSignal(): void {
    const { signal } = this.#options;
    if (this.ended || !signal) return;
    if (signal.aborted) this.#onAbort();
    else sharedSignal(signal).addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Does what an event of the turn asks for, such as answering an approval, as a part of it. */
  within(work: () => void): void {
    inSpan(this.#options.span, work);
  }

  /** Takes an event of this turn. What comes after the end is ignored. */
  accept(event: EventBody): void {
    if (this.ended) return;
    this.push(event);
    const { type, data } = event;
    if (type === "turn.completed") this.#finish({ status: data.status, turn: data.turn });
    else if (type === "turn.dequeued") this.#finish({ status: "cancelled", turn: data.turn });
    else if (type === "turn.error") {
      const { turn, error, code } = data;
      this.#finish({ status: "error", turn, error, code }, { code });
    }
  }

  /** The connection is lost before the end. */
  lose(error: HarnessError): void {
    if (this.ended) return;
    this.#stop(error, error);
    this.#result.reject(error);
  }

  cancel(): Promise<void> {
    this.#cancelling ??= this.#cancel().finally(() => {
      this.#cancelling = undefined;
    });
    return this.#cancelling;
  }

  /** A turn that ended meanwhile needs no cancelling; one that goes on over a loss still does. */
  async #cancel(): Promise<void> {
    const { threadId, turnId } = this;
    const client = this.#client;
    while (!this.ended) {
      try {
        await client.call("turn.cancel", client.has("queue") ? { threadId, turnId } : { threadId });
        return;
      } catch (error) {
        if (ThreadError.isInstance(error) && error.code === "turn_not_found") return;
        if (!isConnectionLoss(error)) throw error;
        await client.whenSettled();
        if (this.ended || client.error) throw error;
      }
    }
  }

  #finish(result: TurnResult, failure?: unknown): void {
    this.#stop(undefined, failure);
    this.#result.resolve(result);
  }

  #stop(error: HarnessError | undefined, failure: unknown): void {
    this.ended = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.end(error);
    this.#options.onEnd(failure);
  }

  readonly #onAbort = (): void => {
    this.cancel().catch((error: HarnessError) => {
      if (!this.ended) this.#client.report(error);
    });
  };
}
