/** How many ids are remembered. */
const defaultMaxIds = 4096;

/** Remembers the ids of late, so that a repeated one is noticed. The oldest is forgotten first. */
export class SeenIds {
  readonly #ids = new Set<string>();

  constructor(readonly maxIds = defaultMaxIds) {}

  /** False when the id was seen before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > this.maxIds) {
      for (const oldest of this.#ids) {
        this.#ids.delete(oldest);
        break;
      }
    }
    return true;
  }
}
