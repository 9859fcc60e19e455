/** What Ctrl-C does: the first cancels the turn, the second ends the command, the third ends it without waiting. */
export class Interrupts {
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #onQuit: (count: number) => void;
  #count = 0;

  /** @param onQuit called from the second Ctrl-C on, with how many there were */
  constructor(onQuit: (count: number) => void) {
    this.signal = this.#abort.signal;
    this.#onQuit = onQuit;
  }

  /** Listens to SIGINT; `dispose` stops that. */
  listen(): void {
    process.on("SIGINT", this.interrupt);
  }

  readonly interrupt = (): void => {
    this.#count++;
    if (this.#count === 1) this.#abort.abort();
    else this.#onQuit(this.#count);
  };

  dispose(): void {
    process.off("SIGINT", this.interrupt);
  }
}
