let lastMs = Number.NaN;
let lastText = "";

/** The time as RFC 3339; made once per millisecond. */
export const isoTimestamp = (ms: number): string => {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
};
