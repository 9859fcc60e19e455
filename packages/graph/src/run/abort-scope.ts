import { GraphError } from "../errors.ts";

/** When code in a part of a run is to stop, and when it is not waited for any more. */
export interface AbortScope {
  /** Aborts when its result is not needed any more. */
  readonly signal: AbortSignal;
  /** Aborts when middleware, here or around, has ended the call that it belongs to; undefined where none may. */
  readonly abandoned?: AbortSignal | undefined;
}

/** A scope that also ends with this signal, which aborts with a `GraphError`. */
export const innerScope = (outer: AbortScope, signal: AbortSignal): AbortScope => ({
  ...outer,
  signal: AbortSignal.any([outer.signal, signal]),
});

/** The same; code in it is not waited for once the signal has aborted. */
export const abandonableScope = (outer: AbortScope, signal: AbortSignal): AbortScope => ({
  ...innerScope(outer, signal),
  abandoned: outer.abandoned === undefined ? signal : AbortSignal.any([outer.abandoned, signal]),
});

/** The result of code in a scope; rejects with the reason once the scope is abandoned. */
export const waitIn = <T>({ abandoned }: AbortScope, code: () => Promise<T>): Promise<T> => {
  if (abandoned === undefined) return code();
  return new Promise((resolve, reject) => {
    const unfollow = onAborted(abandoned, reject);
    code().then(resolve, reject).finally(unfollow);
  });
};

/** The error of an invocation that its caller has cancelled. */
export const cancelledBy = (reason: unknown): GraphError =>
  new GraphError("invocation_cancelled", "the invocation was cancelled", { cause: reason });

/** Calls `onAbort` when a signal aborts, immediately if it has; returns a function that stops that. */
export const onAborted = (
  signal: AbortSignal | undefined,
  onAbort: (reason: unknown) => void,
): (() => void) => {
  if (signal === undefined) return () => {};
  const abort = () => onAbort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
};
