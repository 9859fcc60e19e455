import { useEffect, useState } from "preact/hooks";

/** A value that views follow. */
export class Store<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener(value);
  }

  /** Reports each later value. Returns what ends that. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

/** The store's value, now and after each change. */
export const useStore = <T>(store: Store<T>): T => {
  const [value, setValue] = useState(() => store.value);
  useEffect(() => {
    // A change between the first draw and this effect.
    setValue(() => store.value);
    return store.subscribe((changed) => setValue(() => changed));
  }, [store]);
  return value;
};
