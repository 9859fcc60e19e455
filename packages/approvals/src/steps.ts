import { isThenable } from "@harnesskit/wire";

/** A value, or a promise of it where it comes over a network. */
export type MaybePromise<T> = T | Promise<T>;

/** Work that waits where a storage answers later, and only there. */
export type Steps<T> = Generator<PromiseLike<unknown>, T, unknown>;

/** What a storage answers: `const record = yield* answer(table.get(id))`. */
export function* awaited<T>(given: MaybePromise<T>): Steps<T> {
  return isThenable(given) ? ((yield given) as T) : given;
}

/** Goes on after each promise. */
const finish = async <T>(steps: Steps<T>, first: PromiseLike<unknown>): Promise<T> => {
  for (let pending = first; ; ) {
    let next: IteratorResult<PromiseLike<unknown>, T>;
    try {
      const value = await pending;
      next = steps.next(value);
    } catch (error) {
      next = steps.throw(error);
    }
    if (next.done) return next.value;
    pending = next.value;
  }
};

/** Runs work to its end: in this turn of the event loop if the storage answers at once, otherwise as a promise. */
export const runSteps = <T>(steps: Steps<T>): MaybePromise<T> => {
  const first = steps.next();
  return first.done ? first.value : finish(steps, first.value);
};
