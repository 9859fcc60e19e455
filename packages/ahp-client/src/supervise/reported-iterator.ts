import type { AllowedCall } from "./allow-call.ts";

type Step = (...given: unknown[]) => unknown;

interface Steps {
  readonly next: Step;
  readonly return?: Step;
  readonly throw?: Step;
}

/** Whether a tool runs as it is read: what it returned is a generator, or another iterator, with or without promises. */
export const isIterator = (value: unknown): value is object & Steps =>
  typeof value === "object" && value !== null && typeof (value as Partial<Steps>).next === "function";

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";

/**
 * The same iterator, whose end is reported: success with the value that it returns, or else the last one that it gave; its error; cancelled,
 * where its reader stops early.
 */
export const reportedIterator = <T extends object & Steps>(iterator: T, call: AllowedCall): T => {
  let last: unknown;
  const fail = (error: unknown): never => {
    call.failed(error);
    throw error;
  };
  const reported = (step: Step, ended: (value: unknown) => void): Step => {
    const note = (result: unknown): unknown => {
      const { done, value } = result as IteratorResult<unknown>;
      if (done) ended(value);
      else last = value;
      return result;
    };
    return (...given) => {
      let result: unknown;
      try {
        result = Reflect.apply(step, iterator, given);
      } catch (error) {
        return fail(error);
      }
      return isPromise(result) ? result.then(note, fail) : note(result);
    };
  };
  const succeeded = (value: unknown) => call.succeeded(value === undefined ? last : value);
  return Object.assign(Object.create(iterator), {
    next: reported(iterator.next, succeeded),
    return: iterator.return ? reported(iterator.return, () => call.cancelled()) : undefined,
    throw: iterator.throw ? reported(iterator.throw, succeeded) : undefined,
  });
};
