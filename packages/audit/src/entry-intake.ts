/**
 * Takes entries one at a time, although reading one may record others, in a getter of it: these come behind it. What the
 * reading of those records is dropped and counted, so that it comes to an end.
 */
export class EntryIntake<Entry> {
  readonly #append: (entry: Entry) => void;
  /** What is being read: no entry, one that was taken, or one that its reading recorded. */
  #depth: 0 | 1 | 2 = 0;
  #nested: Entry[] = [];
  #dropped = 0;

  constructor(append: (entry: Entry) => void) {
    this.#append = append;
  }

  get dropped(): number {
    return this.#dropped;
  }

  take(entry: Entry): void {
    if (this.#depth === 2) {
      this.#dropped++;
      return;
    }
    if (this.#depth === 1) {
      this.#nested.push(entry);
      return;
    }
    this.#depth = 1;
    this.#append(entry);
    if (this.#nested.length > 0) {
      this.#depth = 2;
      for (const next of this.#nested) this.#append(next);
      this.#nested = [];
    }
    this.#depth = 0;
  }
}
