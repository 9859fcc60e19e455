import type { Clock } from "@harnesskit/wire";

export interface ParentWatchOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** The id of the parent process at this moment. */
  readonly parentId: () => number;
  readonly onGone: () => void;
}

/** Looks whether the parent process is still the one that it was at the start; an orphan gets another one. */
export class ParentWatch {
  readonly initialId: number;
  readonly #options: ParentWatchOptions;
  #cancel: (() => void) | undefined;

  constructor(options: ParentWatchOptions) {
    this.#options = options;
    this.initialId = options.parentId();
    this.#arm();
  }

  get gone(): boolean {
    return this.#options.parentId() !== this.initialId;
  }

  stop(): void {
    this.#cancel?.();
  }

  #arm(): void {
    this.#cancel = this.#options.clock.after(this.#options.intervalMs, () => {
      if (this.gone) this.#options.onGone();
      else this.#arm();
    });
  }
}
