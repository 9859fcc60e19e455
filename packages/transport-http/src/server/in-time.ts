import type { Clock } from "@harnesskit/wire";

/** What a promise that takes too long is answered with. */
export const tooLate: unique symbol = Symbol("too late");

/** The value of a promise, or `tooLate` after the time. Rejects as the promise does; what it does later is ignored. */
export const inTime = <T>(
  pending: PromiseLike<T>,
  timeoutMs: number,
  clock: Clock,
): Promise<T | typeof tooLate> =>
  new Promise((resolve, reject) => {
    const takeBack = clock.after(timeoutMs, () => resolve(tooLate));
    pending.then(
      (value) => {
        takeBack();
        resolve(value);
      },
      (reason: unknown) => {
        takeBack();
        reject(reason);
      },
    );
  });
