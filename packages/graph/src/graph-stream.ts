import { createDeferred, type Deferred } from "@harnesskit/wire";
import { GraphError } from "./errors.ts";
import type { NodeEvent } from "./observers/node-event.ts";
import { follow } from "./run/abort-scope.ts";

export interface StreamOptions {
  /** How many events may wait for the reader; see {@link GraphStream}. 1 or more. @default 10000 */
  readonly maxBufferedEvents?: number;
}

/** What the end of an iteration gives or throws, once. */
type End<Outcome> = { readonly value: Outcome } | { readonly error: unknown };

export interface GraphStreamOptions<Outcome> {
  readonly maxBufferedEvents: number;
  /** Of the caller. */
  readonly signal: AbortSignal | undefined;
  /** Runs the invocation; calls `onEvent` with each event as it happens. */
  run(onEvent: (event: NodeEvent) => void, signal: AbortSignal): Promise<Outcome>;
}

/**
 * The events of one invocation as they happen, to be read once, and its outcome. The run has begun and does not wait for the
 * reader. A reader that is more than `maxBufferedEvents` behind gets those that wait, and then a `stream_overflow`; the run
 * goes on, and `outcome` tells how it ended.
 *
 * Leaving the iteration early (`break`, `return()`, an error in the loop) cancels the run, and waits until it has ended. A run that
 * fails rejects the iteration behind its last event, and `outcome`.
 */
export class GraphStream<Outcome>
  implements AsyncIterableIterator<NodeEvent, Outcome | undefined, undefined>
{
  /** How the run ended, as `invoke` gives it or rejects. It need not be looked at. */
  readonly outcome: Promise<Outcome>;
  readonly #cancel = new AbortController();
  readonly #maxBufferedEvents: number;
  #buffer: NodeEvent[] = [];
  readonly #readers: Deferred<IteratorResult<NodeEvent, Outcome | undefined>>[] = [];
  #end: End<Outcome> | undefined;
  /** True once no further event is taken: the reader has left, is too slow, or the run has ended. */
  #isOver = false;

  /** @internal */
  constructor({ maxBufferedEvents, signal, run }: GraphStreamOptions<Outcome>) {
    this.#maxBufferedEvents = maxBufferedEvents;
    const unfollow = follow(signal, (reason) => this.#cancel.abort(reason));
    this.outcome = run((event) => this.#push(event), this.#cancel.signal).finally(unfollow);
    this.outcome.then(
      (value) => this.#finish({ value }),
      (error: unknown) => this.#finish({ error }),
    );
  }

  #push(event: NodeEvent): void {
    if (this.#isOver) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader.resolve({ done: false, value: event });
    else if (this.#buffer.length < this.#maxBufferedEvents) this.#buffer.push(event);
    else {
      const message = `the reader is more than maxBufferedEvents of ${this.#maxBufferedEvents} behind; read faster, or raise it`;
      const error = new GraphError("stream_overflow", message);
      GraphError.attribute(error, event.invocation_id);
      this.#finish({ error });
    }
  }

  #finish(end: End<Outcome>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#end = end;
    for (const reader of this.#readers.splice(0)) this.#takeEnd().then(reader.resolve, reader.reject);
  }

  async #takeEnd(): Promise<IteratorReturnResult<Outcome | undefined>> {
    const end = this.#end;
    this.#end = undefined;
    if (end !== undefined && "error" in end) throw end.error;
    return { done: true, value: end?.value };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next event; behind the last one the outcome, as the value of a result that is `done`. */
  async next(): Promise<IteratorResult<NodeEvent, Outcome | undefined>> {
    const value = this.#buffer.shift();
    if (value !== undefined) return { done: false, value };
    if (this.#isOver) return this.#takeEnd();
    const reader = createDeferred<IteratorResult<NodeEvent, Outcome | undefined>>();
    this.#readers.push(reader);
    return reader.promise;
  }

  /** Cancels the run, waits until it has ended, and drops the events that were not read. Idempotent. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#finish({ value: undefined as Outcome });
    this.#end = undefined;
    this.#buffer = [];
    this.#cancel.abort(new GraphError("invocation_cancelled", "the reader of the stream has left"));
    await this.outcome.catch(() => {});
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
