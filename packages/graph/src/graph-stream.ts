import { GraphError } from "./errors.ts";
import type { NodeEvent } from "./observers/node-event.ts";
import { onAborted } from "./run/abort-scope.ts";

/** Options of `stream`. */
export interface StreamOptions {
  /** How many events may wait for the reader; see {@link GraphStream}. 1 or more. @default 10000 */
  readonly maxBufferedEvents?: number | undefined;
}

/**
 * The events of one invocation as they happen, to be read once, and its outcome. The run has begun and does not wait for the
 * reader. A reader that is more than `maxBufferedEvents` behind gets the buffered events, and then a `stream_overflow`; the run
 * goes on, and `outcome` has its end.
 *
 * Leaving the iteration early (`break`, `return()`, an error in the loop) cancels the run, and waits until it has ended. If the run
 * fails, the iteration rejects after the last event, and so does `outcome`.
 */
export class GraphStream<Outcome>
  implements AsyncIterableIterator<NodeEvent, Outcome | undefined, undefined>
{
  /** How the run ended, as `invoke` returns it or rejects. A rejection need not be handled. */
  readonly outcome: Promise<Outcome>;
  readonly #cancel = new AbortController();
  readonly #events: ReadableStreamDefaultReader<NodeEvent>;
  /** What the iteration returns or throws, once, behind the last event. */
  #end: Promise<Outcome> | undefined;
  /** True once no further event is taken: the reader has left, is too slow, or the run has ended. */
  #isOver = false;

  /** @internal `run` calls `onEvent` with each event as it happens. */
  constructor(
    run: (onEvent: (event: NodeEvent) => void, signal: AbortSignal) => Promise<Outcome>,
    signal: AbortSignal | undefined,
    maxBufferedEvents: number,
  ) {
    let buffer: ReadableStreamDefaultController<NodeEvent> | undefined;
    const start = (controller: typeof buffer) => {
      buffer = controller;
    };
    this.#events = new ReadableStream({ start }, { highWaterMark: maxBufferedEvents }).getReader();
    const finish = (end: Promise<Outcome>) => {
      end.catch(() => {});
      if (this.#isOver) return;
      this.#isOver = true;
      this.#end = end;
      buffer?.close();
    };
    const push = (event: NodeEvent) => {
      if (this.#isOver) return;
      if ((buffer?.desiredSize ?? 0) > 0) return buffer?.enqueue(event);
      const message = `the reader is more than maxBufferedEvents of ${maxBufferedEvents} behind; read faster, or raise it`;
      const error = new GraphError("stream_overflow", message);
      GraphError.attribute(error, event.invocation_id);
      finish(Promise.reject(error));
    };
    const unfollow = onAborted(signal, (reason) => this.#cancel.abort(reason));
    this.outcome = run(push, this.#cancel.signal).finally(unfollow);
    const ended = () => finish(this.outcome);
    this.outcome.then(ended, ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Resolves with the next event; after the last one with the outcome, as the value of a result that is `done`. */
  async next(): Promise<IteratorResult<NodeEvent, Outcome | undefined>> {
    const { done, value } = await this.#events.read();
    if (!done) return { done, value };
    const end = this.#end;
    this.#end = undefined;
    return { done, value: await end };
  }

  /** Cancels the run, waits until it has ended, and drops the events that were not read. Idempotent. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#isOver = true;
    this.#end = undefined;
    void this.#events.cancel();
    this.#cancel.abort(new GraphError("invocation_cancelled", "the reader of the stream has left"));
    await this.outcome.catch(() => {});
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
