import { BufferFullError } from "@harnesskit/wire";
import { Feed } from "./feed.ts";

/** One reader of changing values. Only the newest unread value of each key is kept. */
class Watch<T> extends Feed<T> {
  readonly #pending: Map<string, T>;
  readonly #onEnd: () => void;

  constructor(present: Iterable<readonly [string, T]>, onEnd: () => void) {
    super();
    this.#pending = new Map(present);
    this.#onEnd = onEnd;
  }

  push(key: string, value: T): void {
    this.#pending.set(key, value);
    this.flush();
  }

  override end(): void {
    super.end();
    this.#onEnd();
  }

  protected shift(): T | undefined {
    for (const [key, value] of this.#pending) {
      this.#pending.delete(key);
      return value;
    }
    return undefined;
  }

  protected clear(): void {
    this.#pending.clear();
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
  open(present: Iterable<readonly [string, T]>, { signal }: WatchOptions = {}): AsyncIterableIterator<T> {
    if (this.#watches.size >= this.#maxWatchers) throw new BufferFullError("maxWatchers", this.#maxWatchers);
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
