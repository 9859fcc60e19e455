/** What runs beside the messages that follow. */
export class BesideWork {
  readonly #note: (line: string) => void;
  readonly #running = new Set<Promise<void>>();

  constructor(note: (line: string) => void) {
    this.#note = note;
  }

  /** What fails unforeseen is noted, never thrown. */
  add(work: Promise<void>): void {
    const settled = work.catch((error: unknown) => {
      this.#note(error instanceof Error ? error.message : "the proxy failed");
    });
    this.#running.add(settled);
    void settled.finally(() => this.#running.delete(settled));
  }

  /** Settles when nothing runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
