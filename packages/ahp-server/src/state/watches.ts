import { BufferFullError } from "@harnesskit/wire";

const ended = { done: true, value: undefined } as const;

interface WatchSource<T> {
  /** The newest value under a key; undefined if absent or not watched. */
  readonly read: (key: string) => T | undefined;
  readonly forget: () => void;
}

/** One reader of changing values. Only keys wait, so that a slow reader holds nothing. */
class Watch<T> implements AsyncIterableIterator<T> {
  readonly #source: WatchSource<T>;
  readonly #changed: Set<string>;
  readonly #readers: ((result: IteratorResult<T>) => void)[] = [];
  #isClosed = false;

  constructor(source: WatchSource<T>, keys: Iterable<string>) {
    this.#source = source;
    this.#changed = new Set(keys);
  }

  push(key: string): void {
    this.#changed.add(key);
    const value = this.#readers.length > 0 ? this.#take() : undefined;
    if (value !== undefined) this.#readers.shift()?.({ done: false, value });
  }

  drop(key: string): void {
    this.#changed.delete(key);
  }

  /** Nothing follows; what waits can still be read. */
  end(): void {
    this.#isClosed = true;
    this.#source.forget();
    for (const reader of this.#readers.splice(0)) reader(ended);
  }

  next(): Promise<IteratorResult<T>> {
    const value = this.#take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#isClosed) return Promise.resolve(ended);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.#changed.clear();
    this.end();
    return Promise.resolve(ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): T | undefined {
    for (const key of this.#changed) {
      this.#changed.delete(key);
      const value = this.#source.read(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }
}

/** All readers of one kind of values. */
export class Watches<T> {
  readonly #maxWatchers: number;
  readonly #watches = new Set<Watch<T>>();
  #isClosed = false;

  constructor(maxWatchers: number) {
    this.#maxWatchers = maxWatchers;
  }

  /** A new reader that gets the values under `keys` first. Throws `buffer_full` when there are `maxWatchers`. */
  open(
    keys: Iterable<string>,
    read: (key: string) => T | undefined,
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<T> {
    if (this.#watches.size >= this.#maxWatchers) throw new BufferFullError("maxWatchers", this.#maxWatchers);
    const stop = () => watch.end();
    const forget = () => {
      this.#watches.delete(watch);
      signal?.removeEventListener("abort", stop);
    };
    const watch: Watch<T> = new Watch({ read, forget }, keys);
    this.#watches.add(watch);
    signal?.addEventListener("abort", stop, { once: true });
    if (this.#isClosed || signal?.aborted) watch.end();
    return watch;
  }

  push(key: string): void {
    for (const watch of this.#watches) watch.push(key);
  }

  /** There is no value under this key any more. */
  drop(key: string): void {
    for (const watch of this.#watches) watch.drop(key);
  }

  close(): void {
    this.#isClosed = true;
    for (const watch of [...this.#watches]) watch.end();
  }
}
