/** Calls what must not decide what becomes of an event. */
export const quietly = (run: () => void): void => {
  try {
    run();
  } catch {
    // Whoever is told has nobody to tell in turn.
  }
};
