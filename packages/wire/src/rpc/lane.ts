/** Runs at most `width` jobs at a time; the others wait and start in the order in which they came. */
export class Lane {
  readonly #width: number;
  readonly #onEmpty: (() => void) | undefined;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #isStarting = false;

  constructor(width: number, onEmpty?: () => void) {
    this.#width = width;
    this.#onEmpty = onEmpty;
  }

  /** Takes a place if one is free: the caller starts its job and calls `leave` when the job is done. */
  tryEnter(): boolean {
    if (this.#running >= this.#width || this.#waiting.length > 0) return false;
    this.#running++;
    return true;
  }

  /** Calls `start` with a place taken, as soon as one is free. For after `tryEnter` returned false. */
  wait(start: () => void): void {
    this.#waiting.push(start);
  }

  /** Runs a job in its turn. Settles as the job does. */
  async run<T>(job: () => T | Promise<T>): Promise<T> {
    if (!this.tryEnter()) await new Promise<void>((start) => this.wait(start));
    try {
      return await job();
    } finally {
      this.leave();
    }
  }

  leave(): void {
    this.#running--;
    // A job that ends at once calls this from within the loop, which then goes on.
    if (this.#isStarting) return;
    this.#isStarting = true;
    while (this.#running < this.#width) {
      const start = this.#waiting.shift();
      if (!start) break;
      this.#running++;
      start();
    }
    this.#isStarting = false;
    if (this.#running === 0) this.#onEmpty?.();
  }
}

/** Lanes of width 1 by key. A lane exists while something runs in it. */
export class KeyedLanes {
  readonly #lanes = new Map<string, Lane>();

  get(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known) return known;
    const lane = new Lane(1, () => this.#lanes.delete(key));
    this.#lanes.set(key, lane);
    return lane;
  }
}
