import { noteInterruption } from "../interruption.ts";

/** What Ctrl-C does: the first cancels the turn, the second ends the command; more change nothing. */
export class Interrupts {
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #onQuit: () => void;
  #count = 0;

  /** @param onQuit called once, at the second Ctrl-C */
  constructor(onQuit: () => void) {
    this.signal = this.#abort.signal;
    this.#onQuit = onQuit;
  }

  /** Listens to SIGINT; `dispose` stops that. */
  listen(): void {
    process.on("SIGINT", this.interrupt);
  }

  readonly interrupt = (): void => {
    noteInterruption();
    this.#count++;
    if (this.#count === 1) this.#abort.abort();
    if (this.#count === 2) this.#onQuit();
  };

  dispose(): void {
    process.off("SIGINT", this.interrupt);
  }
}
