/** How a stream ended: with an error, given up by its reader or the signal, or by itself. */
export interface StreamEnd {
  readonly error?: unknown;
  readonly isCancelled: boolean;
}

export interface StreamObserver<T> {
  /** Each part on its way. Must not throw. */
  readonly part: (part: T) => void;
  /** Once, when nothing follows. Must not throw. */
  readonly end: (end: StreamEnd) => void;
  /** Ends the stream with its reason. */
  readonly signal: AbortSignal | undefined;
}

/** The same stream, whose parts and end are reported on the way. Nothing is read ahead. */
export const observeStream = <T>(
  stream: ReadableStream<T>,
  { part, end, signal }: StreamObserver<T>,
): ReadableStream<T> => {
  const reader = stream.getReader();
  let onAbort = (): void => {};
  let isOver = false;
  /** True for the first caller that ends it. */
  const finish = (how: StreamEnd): boolean => {
    if (isOver) return false;
    isOver = true;
    signal?.removeEventListener("abort", onAbort);
    end(how);
    return true;
  };
  return new ReadableStream<T>(
    {
      start(controller) {
        onAbort = () => {
          if (!finish({ isCancelled: true })) return;
          controller.error(signal?.reason);
          // A provider that obeys the signal has ended by itself.
          reader.cancel(signal?.reason).catch(() => {});
        };
        if (signal?.aborted) onAbort();
        else signal?.addEventListener("abort", onAbort, { once: true });
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (isOver) return;
          if (!done) {
            part(value);
            controller.enqueue(value);
          } else if (finish({ isCancelled: false })) controller.close();
        } catch (error) {
          if (finish({ error, isCancelled: signal?.aborted ?? false })) controller.error(error);
        }
      },
      async cancel(reason) {
        finish({ isCancelled: true });
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};
