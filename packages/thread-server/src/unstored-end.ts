import type { EventBody } from "@harnesskit/protocol/threads";
import type { ThreadSession } from "./thread-session.ts";

/** How long after the store refused the end of a turn it is tried again. */
const retryMs = 1000;

/** The end of a thread's last turn while the store refuses it. It is tried again; until it is stored, no client hears of it. */
export class UnstoredEnd {
  readonly #session: ThreadSession;
  readonly #onStored: () => void;
  #bodies: readonly EventBody[] | undefined;
  #storing: Promise<void> | undefined;
  #stopTimer = () => {};

  constructor(session: ThreadSession, onStored: () => void) {
    this.#session = session;
    this.#onStored = onStored;
  }

  /** True while there is one that may still be stored. */
  get isPending(): boolean {
    return this.#bodies !== undefined && !this.#session.isLost;
  }

  /** Keeps the end of a turn; undefined for one that was stored. */
  keep(bodies: readonly EventBody[] | undefined): void {
    this.#bodies = bodies;
    this.#tryLater();
  }

  /** Stores it now, if there is one. Rejects as the store does. */
  store(): Promise<void> {
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
    return this.#storing;
  }

  /** Tries no more. */
  close(): void {
    this.#stopTimer();
    this.#bodies = undefined;
  }

  async #store(): Promise<void> {
    if (!this.#bodies || !this.isPending) return;
    await Promise.all(this.#bodies.map((body) => this.#session.log.append(body)));
    this.#bodies = undefined;
    this.#stopTimer();
    this.#onStored();
  }

  #tryLater(): void {
    if (!this.isPending) return;
    this.#stopTimer = this.#session.settings.clock.after(retryMs, () => {
      // The failure was reported when the turn ended.
      void this.store()
        .catch(() => {})
        .finally(() => this.#tryLater());
    });
  }
}
