import * as z from "zod";

/** The version of the messages that this package knows. */
export const OPENHARNESS_VERSION = "1.0.0";

/** A version of the messages: three numbers, and what may stand behind them (section 3). */
export const ProtocolVersionSchema = z
  .string()
  .regex(
    /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
    "expected three numbers with dots, such as 1.0.0",
  );

/**
 * The major number of a version as text, without leading zeros, because it may be larger than a number can be. Undefined
 * for what is not a version.
 */
export const majorOf = (version: string): string | undefined => {
  if (!ProtocolVersionSchema.safeParse(version).success) return undefined;
  return version.slice(0, version.indexOf(".")).replace(/^0+(?=\d)/, "");
};
