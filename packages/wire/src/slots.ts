/**
 * What is under way, in no order. Other than a Set it keeps nothing of what has left: a Set that things come to and leave
 * all the time is moved to a new table again and again, and each old table keeps what it held alive until the next full
 * collection of garbage.
 */
export class Slots<T extends object> implements Iterable<T> {
  readonly #values: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  /** Takes the value. Returns the slot, to `remove` it by, once. */
  add(value: T): number {
    const slot = this.#free.pop() ?? this.#values.length;
    this.#values[slot] = value;
    return slot;
  }

  remove(slot: number): void {
    if (this.#values[slot] === undefined) return;
    this.#values[slot] = undefined;
    this.#free.push(slot);
  }

  /** Those that are there now; what comes or leaves meanwhile changes nothing. */
  [Symbol.iterator](): Iterator<T> {
    return this.#values.filter((value) => value !== undefined)[Symbol.iterator]();
  }
}
