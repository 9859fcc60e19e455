/** Calls somebody who is only told: what the call throws, or the promise that it may return is rejected with, is ignored. */
export const quietly = (tell: () => unknown): void => {
  const ignore = (): void => {};
  try {
    const told = tell() as Partial<PromiseLike<unknown>> | null | undefined;
    if (typeof told?.then === "function") told.then(undefined, ignore);
  } catch {
    // As said above.
  }
};
