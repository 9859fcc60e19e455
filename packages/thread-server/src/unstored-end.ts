import type { EventBody } from "@harnesskit/protocol/threads";
import type { Clock } from "@harnesskit/wire";
import type { EventLog } from "./event-log.ts";

/** How long after the store refused the end of a turn it is tried again. */
const retryMs = 1000;

export interface UnstoredEndOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  /** True if the log was changed from outside: nothing more is written. */
  readonly isLost: () => boolean;
  readonly onStored: () => void;
}

/** The end of a thread's last turn while the store refuses it. It is tried again; until it is stored, no client hears of it. */
export class UnstoredEnd {
  readonly #options: UnstoredEndOptions;
  #bodies: readonly EventBody[] | undefined;
  #storing: Promise<void> | undefined;
  #stopTimer = () => {};

  constructor(options: UnstoredEndOptions) {
    this.#options = options;
  }

  /** True while there is one that may still be stored. */
  get isPending(): boolean {
    return this.#bodies !== undefined && !this.#options.isLost();
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
    const { log, onStored } = this.#options;
    if (!this.#bodies || !this.isPending) return;
    await Promise.all(this.#bodies.map((body) => log.append(body)));
    this.#bodies = undefined;
    this.#stopTimer();
    onStored();
  }

  #tryLater(): void {
    if (!this.isPending) return;
    this.#stopTimer = this.#options.clock.after(retryMs, () => {
      // The failure was reported when the turn ended.
      void this.store()
        .catch(() => {})
        .finally(() => this.#tryLater());
    });
  }
}
