import { Slots } from "@harnesskit/wire";

/** One end that many wait for: an AbortSignal without a reason, which warns nobody of too many listeners. */
export class Ending {
  #listeners = new Slots<() => void>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls back once, at the end. Returns what takes that back. */
  listen(listener: () => void): () => void {
    const listeners = this.#listeners;
    const slot = listeners.add(listener);
    return () => listeners.remove(slot);
  }

  /** It is the end. Idempotent. */
  end(): void {
    this.#isOver = true;
    const listeners = this.#listeners;
    this.#listeners = new Slots();
    for (const listener of listeners) listener();
  }
}
