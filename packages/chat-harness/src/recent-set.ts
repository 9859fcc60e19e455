/** The last texts that were added, at most `limit` of them. */
export class RecentSet {
  readonly #items = new Set<string>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(item: string): void {
    this.#items.delete(item);
    this.#items.add(item);
    for (const oldest of this.#items) {
      if (this.#items.size <= this.#limit) break;
      this.#items.delete(oldest);
    }
  }

  has(item: string): boolean {
    return this.#items.has(item);
  }
}
