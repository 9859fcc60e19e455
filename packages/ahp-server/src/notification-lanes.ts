/**
 * Lets the notifications of one session be handled one after the other, and those of others beside them. What runs is
 * bounded in time, and what waits by the senders' own limits.
 */
export class NotificationLanes {
  /** By lane, what waits in it. A lane without anything under way is not there. */
  readonly #lanes = new Map<string, (() => unknown)[]>();

  get size(): number {
    return this.#lanes.size;
  }

  /** Runs the job, which never throws or rejects, at once or in its turn. */
  run<T>(lane: string, job: () => T | Promise<T>): T | Promise<T> {
    const waiting = this.#lanes.get(lane);
    if (waiting) {
      return new Promise<T>((resolve) => {
        waiting.push(() => {
          const outcome = job();
          resolve(outcome);
          return outcome;
        });
      });
    }
    const outcome = job();
    if (outcome instanceof Promise) {
      this.#lanes.set(lane, []);
      void outcome.then(() => this.#goOn(lane));
    }
    return outcome;
  }

  #goOn(lane: string): void {
    for (let job = this.#lanes.get(lane)?.shift(); job; job = this.#lanes.get(lane)?.shift()) {
      const outcome = job();
      if (outcome instanceof Promise) {
        void outcome.then(() => this.#goOn(lane));
        return;
      }
    }
    this.#lanes.delete(lane);
  }
}
