/**
 * Takes entries one at a time, although reading one may record others, in a getter of it: these come behind it. What the
 * reading of those records is dropped and counted, so that it comes to an end.
 */
export class EntryIntake<Entry> {
  readonly #append: (entry: Entry) => void;
  #recorded: Entry[] | undefined;
  #dropped = 0;

  constructor(append: (entry: Entry) => void) {
    this.#append = append;
  }

  get dropped(): number {
    return this.#dropped;
  }

  take(entry: Entry): void {
    if (this.#recorded) {
      this.#recorded.push(entry);
      return;
    }
    const nested: Entry[] = [];
    this.#recorded = nested;
    this.#append(entry);
    const tooDeep: Entry[] = [];
    this.#recorded = tooDeep;
    for (const next of nested) this.#append(next);
    this.#dropped += tooDeep.length;
    this.#recorded = undefined;
  }
}
