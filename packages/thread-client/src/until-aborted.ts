import { RequestCancelledError } from "@harnesskit/wire";

/** Rejects with `request_cancelled` as soon as the signal aborts; what was begun goes on unheard. */
export const untilAborted = <T>(method: string, begun: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = () => reject(new RequestCancelledError(method, { cause: signal.reason }));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = () => signal.removeEventListener("abort", onAbort);
    begun.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
