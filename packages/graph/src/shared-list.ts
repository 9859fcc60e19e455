import { createListView } from "./list-view.ts";

/** The items of all lists that grew out of one another, and what they were copied from. */
interface Trunk<T> {
  readonly items: T[];
  /** The trunk whose first `length` items these began with. */
  readonly origin: { readonly trunk: Trunk<T>; readonly length: number } | undefined;
  readonly forks: number;
}

/** How many forks in a row are remembered; beyond, two lists are no longer known to have a beginning in common. */
const maxForks = 16;

/**
 * A list that never changes and costs nothing to grow: what it becomes by {@link append} shares its items with it. Only
 * a second continuation of the same list copies. The items belong to the list and must not be changed.
 */
export class SharedList<T> {
  readonly #trunk: Trunk<T>;
  #array: readonly T[] | undefined;
  #view: readonly T[] | undefined;
  /** How many items it has. */
  readonly length: number;

  private constructor(trunk: Trunk<T>, length: number) {
    this.#trunk = trunk;
    this.length = length;
  }

  /** A list of these items. */
  static of<T>(items: Iterable<T>): SharedList<T> {
    const own = [...items];
    return new SharedList({ items: own, origin: undefined, forks: 0 }, own.length);
  }

  /**
   * What this list and all that grew out of it without a fork have in common: a key for what is known of their items.
   * What holds for the first n items of one of them holds for the first n of the others.
   */
  get lineage(): object {
    return this.#trunk;
  }

  /** This list with the items at its end. Takes as long as there are items to add. */
  append(items: readonly T[]): SharedList<T> {
    if (items.length === 0) return this;
    const trunk = this.#trunk.items.length === this.length ? this.#trunk : this.#fork();
    for (const item of items) trunk.items.push(item);
    return new SharedList(trunk, trunk.items.length);
  }

  #fork(): Trunk<T> {
    const isRemembered = this.#trunk.forks < maxForks;
    return {
      items: this.#trunk.items.slice(0, this.length),
      origin: isRemembered ? { trunk: this.#trunk, length: this.length } : undefined,
      forks: isRemembered ? this.#trunk.forks + 1 : 0,
    };
  }

  /** The first items of it, as a list that shares them. */
  first(length: number): SharedList<T> {
    return length >= this.length ? this : new SharedList(this.#trunk, Math.max(0, length));
  }

  /** A list of the same items that shares nothing with this one but what is known of its beginning. */
  copy(): SharedList<T> {
    return new SharedList(this.#fork(), this.length);
  }

  /** The item at an index; a negative one counts from the end. Undefined beyond both ends. */
  at(index: number): T | undefined {
    const place = index < 0 ? this.length + index : index;
    return place >= 0 && place < this.length ? this.#trunk.items[place] : undefined;
  }

  /** A copy of the items from one index up to another, as `Array.prototype.slice` counts them. */
  slice(from = 0, to = this.length): T[] {
    const index = (value: number) =>
      value < 0 ? Math.max(0, this.length + Math.trunc(value)) : Math.min(value, this.length);
    return this.#trunk.items.slice(index(from), index(to));
  }

  /**
   * The items as an array that cannot be changed, at no cost. It differs from an array in one thing: `structuredClone` refuses it
   * (copy it with `[...view]`).
   */
  get view(): readonly T[] {
    this.#view ??= createListView(this);
    return this.#view;
  }

  /** The items as a frozen array, made once. */
  toArray(): readonly T[] {
    this.#array ??= Object.freeze(this.#trunk.items.slice(0, this.length));
    return this.#array;
  }

  /** What its items were copied from, this list's own trunk first, and how many items of each it still has. */
  #origins(): Map<Trunk<T>, number> {
    const lengths = new Map([[this.#trunk, this.length]]);
    let { length } = this;
    for (let { origin } = this.#trunk; origin !== undefined; { origin } = origin.trunk) {
      length = Math.min(length, origin.length);
      lengths.set(origin.trunk, length);
    }
    return lengths;
  }

  /** How many items at the beginning are known to be the same ones in another list; 0 for lists that never met. */
  commonLength(other: SharedList<T>): number {
    const lengths = this.#origins();
    for (const [trunk, length] of other.#origins()) {
      const known = lengths.get(trunk);
      if (known !== undefined) return Math.min(known, length);
    }
    return 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = 0; index < this.length; index++) yield this.#trunk.items[index] as T;
  }

  /** An array, for `JSON.stringify`. */
  toJSON(): readonly T[] {
    return this.toArray();
  }
}
