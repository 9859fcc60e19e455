export interface BoundedOptions<Key, Value> {
  /** Entries at the same time; a further one replaces the oldest. */
  readonly maxSize: number;
  /** Receives each entry that was dropped to make room, after it has left. */
  readonly onDrop?: ((key: Key, value: Value) => void) | undefined;
}

/** A map with a limit. The oldest entry is the one whose key was added, or touched, longest ago. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #options: BoundedOptions<Key, Value>;
  /** Yields the oldest key. It is kept, because a new iterator walks over the places of all entries that have left. */
  readonly #oldestFirst = this.keys();

  constructor(options: BoundedOptions<Key, Value>) {
    super();
    this.#options = options;
  }

  /** A key that is there keeps its place. With a limit of 0 nothing is kept. */
  override set(key: Key, value: Value): this {
    const { maxSize, onDrop } = this.#options;
    if (this.has(key) || this.size < maxSize) return super.set(key, value);
    if (maxSize < 1) return this;
    const oldest = this.#oldestFirst.next().value as Key;
    const dropped = this.get(oldest) as Value;
    this.delete(oldest);
    super.set(key, value);
    onDrop?.(oldest, dropped);
    return this;
  }

  /** Makes a key the newest, for maps that drop what was used longest ago. Returns its value. */
  touch(key: Key): Value | undefined {
    const value = this.get(key);
    if (this.delete(key)) super.set(key, value as Value);
    return value;
  }
}

/** A set with a limit. The oldest value is the one that was added longest ago. */
export class BoundedSet<Value> extends Set<Value> {
  readonly #maxSize: number;
  readonly #oldestFirst = this.values();

  constructor({ maxSize }: { readonly maxSize: number }) {
    super();
    this.#maxSize = maxSize;
  }

  /** A value that is there keeps its place. With a limit of 0 nothing is kept. */
  override add(value: Value): this {
    if (this.has(value) || this.size < this.#maxSize) return super.add(value);
    if (this.#maxSize < 1) return this;
    this.delete(this.#oldestFirst.next().value as Value);
    return super.add(value);
  }
}
