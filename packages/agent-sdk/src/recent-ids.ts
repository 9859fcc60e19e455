/** The last ids that were seen, a bounded number of them. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #ring: (string | undefined)[];
  #next = 0;

  constructor(maxIds: number) {
    this.#ring = new Array<string | undefined>(maxIds).fill(undefined);
  }

  /** False when the id is among the last ones. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    const oldest = this.#ring[this.#next];
    if (oldest !== undefined) this.#ids.delete(oldest);
    this.#ring[this.#next] = id;
    this.#next = (this.#next + 1) % this.#ring.length;
    this.#ids.add(id);
    return true;
  }
}
