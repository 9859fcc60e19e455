import { type Clock, RequestTimeoutError } from "@harnesskit/wire";

/**
 * Work whose time begins anew with each sign of life: `touch`. Rejects with `request_timeout` after `timeoutMs` without one; the
 * work's signal aborts then, and with the outer one.
 */
export const whileActive =
  <T>(
    work: (signal: AbortSignal, touch: () => void) => Promise<T>,
    { name, timeoutMs, clock }: { readonly name: string; readonly timeoutMs: number; readonly clock: Clock },
  ) =>
  (outer: AbortSignal): Promise<T> =>
    new Promise((resolve, reject) => {
      const abort = new AbortController();
      let cancelTimer = () => {};
      let isOver = false;
      const expire = () => {
        const error = new RequestTimeoutError(name, timeoutMs);
        abort.abort(error);
        reject(error);
      };
      const touch = () => {
        cancelTimer();
        if (!isOver && Number.isFinite(timeoutMs)) cancelTimer = clock.after(timeoutMs, expire, true);
      };
      const end = () => {
        isOver = true;
        cancelTimer();
        outer.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        end();
        abort.abort(outer.reason);
      };
      outer.addEventListener("abort", onAbort, { once: true });
      touch();
      work(abort.signal, touch).then(resolve, reject).finally(end);
    });
