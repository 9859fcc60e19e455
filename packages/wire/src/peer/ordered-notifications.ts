import { createDeferred, type Deferred } from "../deferred.ts";
import { isThenable } from "../thenable.ts";

/** Runs one notification handler after the other, however long each takes. */
export class OrderedNotifications {
  readonly #waiting: (() => void | Promise<void>)[] = [];
  #running = false;
  #room: Deferred<void> | undefined;
  #idle: Deferred<void> | undefined;

  constructor(
    readonly maxQueued: number,
    /** Must not throw. */
    readonly onFailure: (cause: unknown) => void,
  ) {}

  /** Takes one. Returns a promise when the reader should wait before it brings more. */
  accept(handle: () => void | Promise<void>): Promise<void> | undefined {
    if (!this.#running) {
      this.#run(handle);
      return undefined;
    }
    this.#waiting.push(handle);
    if (this.#waiting.length < this.maxQueued) return undefined;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  /** Drops what waits. */
  close(): void {
    this.#waiting.length = 0;
    this.#room?.resolve();
    this.#idle?.resolve();
  }

  /** Settles when everything that was accepted so far is handled. */
  whenIdle(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    this.#idle ??= createDeferred<void>();
    return this.#idle.promise;
  }

  #run(handle: () => void | Promise<void>): void {
    let pending: unknown;
    try {
      pending = handle();
    } catch (cause) {
      this.onFailure(cause);
      return;
    }
    if (!isThenable(pending)) return;
    this.#running = true;
    pending.then(this.#next, (cause: unknown) => {
      this.onFailure(cause);
      this.#next();
    });
  }

  readonly #next = (): void => {
    this.#running = false;
    while (!this.#running) {
      const handle = this.#waiting.shift();
      if (!handle) break;
      this.#run(handle);
    }
    if (this.#room && this.#waiting.length * 2 <= this.maxQueued) {
      this.#room.resolve();
      this.#room = undefined;
    }
    if (this.#running) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  };
}
