/** True for a promise and for what can be waited for like one; a handler may return anything. */
export const isThenable = <T>(value: unknown): value is PromiseLike<T> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
