/** Whether a tool runs as it is read: what it returned is an async generator, or another async iterator. */
export const isAsyncIterator = (value: unknown): value is object & AsyncIterator<unknown> =>
  typeof value === "object" &&
  value !== null &&
  Symbol.asyncIterator in value &&
  typeof (value as { next?: unknown }).next === "function";

export interface IteratorReports {
  /** With the value that it returns, or else the last one that it gave. */
  succeeded(value: unknown): void;
  failed(error: unknown): void;
  /** Its reader stopped early. */
  cancelled(): void;
}

/** The same iterator, whose end is reported. */
export const reportedIterator = <T extends object & AsyncIterator<unknown>>(
  iterator: T,
  reports: IteratorReports,
): T => {
  let last: unknown;
  const reported = (name: "next" | "return" | "throw") => {
    const step = iterator[name];
    if (!step) return undefined;
    return async (...given: unknown[]): Promise<unknown> => {
      try {
        const result = (await Reflect.apply(step, iterator, given)) as IteratorResult<unknown>;
        if (!result.done) last = result.value;
        else if (name === "return") reports.cancelled();
        else reports.succeeded(result.value ?? last);
        return result;
      } catch (error) {
        reports.failed(error);
        throw error;
      }
    };
  };
  const steps = { next: reported("next"), return: reported("return"), throw: reported("throw") };
  return Object.assign(Object.create(iterator), steps);
};
