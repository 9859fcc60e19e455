type Read<T> = (result: IteratorResult<T>) => void;

const ended = { done: true, value: undefined } as const;

/** An async iterator over values that arrive one by one. How unread values wait is the subclass's decision. */
export abstract class Feed<T> implements AsyncIterableIterator<T> {
  readonly #readers: Read<T>[] = [];
  #isEnded = false;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes out the next unread value. */
  protected abstract shift(): T | undefined;

  /** Drops all unread values. */
  protected abstract clear(): void;

  /** Gives unread values to the readers that wait. */
  protected flush(): void {
    while (this.#readers.length > 0) {
      const value = this.shift();
      if (value === undefined) return;
      this.#readers.shift()?.({ done: false, value });
    }
  }

  /** No value follows. Unread values can still be read. */
  end(): void {
    this.#isEnded = true;
    for (const reader of this.#readers.splice(0)) reader(ended);
  }

  next(): Promise<IteratorResult<T>> {
    const value = this.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#isEnded) return Promise.resolve(ended);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.clear();
    this.end();
    return Promise.resolve(ended);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
