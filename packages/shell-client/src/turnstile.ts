/** Lets through one at a time, in the order in which they came. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task when its turn comes. Each has to end by itself. */
  pass<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    this.#last = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }
}
