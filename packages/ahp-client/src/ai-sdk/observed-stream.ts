/**
 * The same stream, whose parts and end are reported on the way, with its error, or as cancelled where its reader gave it up. Nothing is
 * read ahead. The functions must not throw.
 */
export const observeStream = <T>(
  stream: ReadableStream<T>,
  onPart: (part: T) => void,
  onEnd: (error?: unknown, isCancelled?: boolean) => void,
): ReadableStream<T> => {
  const reader = stream.getReader();
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            onEnd();
            controller.close();
            return;
          }
          onPart(value);
          controller.enqueue(value);
        } catch (error) {
          onEnd(error);
          controller.error(error);
        }
      },
      async cancel(reason) {
        onEnd(undefined, true);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};
