import { displayText } from "@harnesskit/wire";

const fallback = "the guard gave no reason";

/**
 * A reason as a host may get it: never empty, with nothing invisible in it, cut to `maxLength` characters (and the
 * note that says so).
 */
export const safeReason = (text: string, maxLength: number): string => {
  const shown = displayText(text.trim(), { multiline: true, maxLength });
  return shown === "" ? fallback : shown;
};
