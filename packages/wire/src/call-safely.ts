/** True for a promise and for other values with a `then`; a handler may return anything. */
export const isThenable = <T>(value: unknown): value is PromiseLike<T> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/**
 * Calls a listener whose failure must not reach this code. What the call throws, or its promise is rejected with, goes to
 * `onFailure`, once; a failure of `onFailure` is ignored. Never throws, and leaves no rejection unhandled.
 */
export const callSafely = (call: () => unknown, onFailure?: (cause: unknown) => unknown): void => {
  const failed = (cause: unknown): void => {
    if (onFailure) callSafely(() => onFailure(cause));
  };
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, failed);
  } catch (cause) {
    failed(cause);
  }
};
