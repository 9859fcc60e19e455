/** Runs `use` and then every cleanup that it deferred, the last first. Rejects with the first error of all. */
export const withCleanup = async <T>(
  use: (defer: (cleanup: () => unknown) => void) => Promise<T>,
): Promise<T> => {
  const cleanups: (() => unknown)[] = [];
  let outcome = await settle(() => use((cleanup) => void cleanups.push(cleanup)));
  for (const cleanup of cleanups.reverse()) {
    const closed = await settle(cleanup);
    if ("error" in closed && !("error" in outcome)) outcome = closed;
  }
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
};

const settle = async <T>(run: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> => {
  try {
    return { value: await run() };
  } catch (error) {
    return { error };
  }
};
