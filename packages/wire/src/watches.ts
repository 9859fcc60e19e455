import { BufferFullError } from "./errors.ts";
import { Feed } from "./feed.ts";
import { sharedSignal } from "./shared-signal.ts";

/** One reader of changing values. Only the newest unread value of each key is kept. */
class Watch<T> extends Feed<T> {
  readonly #pending: Map<string, T>;
  readonly #filter: (value: T) => boolean;
  readonly #onEnd: () => void;

  constructor(present: Iterable<readonly [string, T]>, filter: (value: T) => boolean, onEnd: () => void) {
    super();
    this.#pending = new Map(present);
    this.#filter = filter;
    this.#onEnd = onEnd;
  }

  push(key: string, value: T): void {
    this.#pending.set(key, value);
    this.flush();
  }

  drop(key: string): void {
    this.#pending.delete(key);
  }

  override end(): void {
    super.end();
    this.#onEnd();
  }

  protected shift(): T | undefined {
    for (const [key, value] of this.#pending) {
      this.#pending.delete(key);
      if (this.#filter(value)) return value;
    }
    return undefined;
  }

  protected clear(): void {
    this.#pending.clear();
  }
}

/** Options of a watch. */
export interface WatchOptions {
  /** Ends the watch. @default never: the reader leaves */
  readonly signal?: AbortSignal | undefined;
}

/** All readers of one kind of values. */
export class Watches<T> {
  readonly #maxWatchers: number;
  readonly #watches = new Set<Watch<T>>();
  #isClosed = false;

  constructor(maxWatchers: number) {
    this.#maxWatchers = maxWatchers;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** A new reader that gets the present values first. Throws `buffer_full` when there are `maxWatchers`. */
  open(
    present: Iterable<readonly [string, T]>,
    { signal }: WatchOptions = {},
    filter: (value: T) => boolean = () => true,
  ): AsyncIterableIterator<T> {
    if (this.#watches.size >= this.#maxWatchers) throw new BufferFullError("maxWatchers", this.#maxWatchers);
    const stop = () => watch.end();
    const watch: Watch<T> = new Watch(present, filter, () => {
      this.#watches.delete(watch);
      signal?.removeEventListener("abort", stop);
    });
    this.#watches.add(watch);
    if (signal) sharedSignal(signal).addEventListener("abort", stop, { once: true });
    if (this.#isClosed || signal?.aborted) watch.end();
    return watch;
  }

  push(key: string, value: T): void {
    for (const watch of this.#watches) watch.push(key, value);
  }

  /** The value under this key is gone: a reader that has not read it yet does not get it. */
  drop(key: string): void {
    for (const watch of this.#watches) watch.drop(key);
  }

  close(): void {
    this.#isClosed = true;
    for (const watch of [...this.#watches]) watch.end();
  }
}
