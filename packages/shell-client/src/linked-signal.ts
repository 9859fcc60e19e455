/** A signal that aborts with the first of several, and what unties it from them again. */
export const linkSignals = (signals: readonly (AbortSignal | undefined)[]) => {
  const abort = new AbortController();
  const unties: (() => void)[] = [];
  for (const signal of signals) {
    if (signal === undefined) continue;
    const onAbort = () => abort.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    unties.push(() => signal.removeEventListener("abort", onAbort));
  }
  return {
    signal: abort.signal,
    unlink: () => {
      for (const untie of unties) untie();
    },
  };
};
