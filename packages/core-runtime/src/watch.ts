import { BufferFullError } from "@harnesskit/wire";

const ended = { done: true, value: undefined } as const;

/** One reader of changing values. Of each key only the newest value waits, so that a slow reader costs no memory. */
class Watch<T> implements AsyncIterableIterator<T> {
  readonly #pending: Map<string, T>;
  readonly #forget: () => void;
  #readers: ((result: IteratorResult<T>) => void)[] = [];
  #closed = false;

  constructor(present: Iterable<readonly [string, T]>, forget: () => void) {
    this.#pending = new Map(present);
    this.#forget = forget;
  }

  push(key: string, value: T): void {
    const reader = this.#readers.shift();
    if (reader) reader({ done: false, value });
    else this.#pending.set(key, value);
  }

  /** Nothing follows; what waits can still be read. */
  end(): void {
    this.#closed = true;
    this.#forget();
    for (const reader of this.#readers.splice(0)) reader(ended);
  }

  next(): Promise<IteratorResult<T>> {
    for (const [key, value] of this.#pending) {
      this.#pending.delete(key);
      return Promise.resolve({ done: false, value });
    }
    if (this.#closed) return Promise.resolve(ended);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.#pending.clear();
    this.end();
    return Promise.resolve(ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Options of a watch. */
export interface WatchOptions {
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** All readers of one kind of values. */
export class Watches<T> {
  readonly #maxWatchers: number;
  readonly #watches = new Set<Watch<T>>();
  #closed = false;

  constructor(maxWatchers: number) {
    this.#maxWatchers = maxWatchers;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** A new reader that gets the present values first. Throws `buffer_full` when there are `maxWatchers`. */
  open(present: Iterable<readonly [string, T]>, options: WatchOptions = {}): AsyncIterableIterator<T> {
    if (this.#watches.size >= this.#maxWatchers) throw new BufferFullError("maxWatchers", this.#maxWatchers);
    const { signal } = options;
    const stop = () => watch.end();
    const watch: Watch<T> = new Watch(present, () => {
      this.#watches.delete(watch);
      signal?.removeEventListener("abort", stop);
    });
    this.#watches.add(watch);
    signal?.addEventListener("abort", stop, { once: true });
    if (this.#closed || signal?.aborted) watch.end();
    return watch;
  }

  push(key: string, value: T): void {
    for (const watch of this.#watches) watch.push(key, value);
  }

  close(): void {
    this.#closed = true;
    for (const watch of [...this.#watches]) watch.end();
  }
}
