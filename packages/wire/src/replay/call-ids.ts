/** The ids of a request's calls: each once, and of nine letters and digits, which every provider takes. */
export class CallIds {
  readonly #used = new Set<string>();
  #count = 0;

  /** The wanted id, if every provider takes it and no earlier call has it; else one of our own. */
  next(wanted?: unknown): string {
    let id = typeof wanted === "string" && /^[A-Za-z0-9_-]{1,40}$/.test(wanted) ? wanted : this.#own();
    while (this.#used.has(id)) id = this.#own();
    this.#used.add(id);
    return id;
  }

  #own(): string {
    this.#count++;
    return `call${String(this.#count).padStart(5, "0")}`;
  }
}
