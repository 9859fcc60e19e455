/** The time in milliseconds since 1970; 0 for a clock that throws, since an audit log never throws. */
export const readClock = (clock: () => number): number => {
  try {
    return clock();
  } catch {
    return 0;
  }
};
