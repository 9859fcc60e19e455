import * as z from "zod";
import { quickSchema } from "../quick-schema.ts";

/** The version of the messages that this package knows. */
export const OPENHARNESS_VERSION = "1.0.0";

/** A version of the messages: three numbers, and what may stand behind them (section 3). */
export const ProtocolVersionSchema = quickSchema(
  z
    .string()
    .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/, "three numbers with dots, as 1.0.0"),
  (version) => (version === OPENHARNESS_VERSION ? version : undefined),
);

/**
 * The major number of a version as text, without leading zeros, because it may be larger than a number can be. Undefined
 * for what is no version.
 */
export const majorOf = (version: string): string | undefined => {
  if (version === OPENHARNESS_VERSION) return "1";
  if (!ProtocolVersionSchema.safeParse(version).success) return undefined;
  return version.slice(0, version.indexOf(".")).replace(/^0+(?=\d)/, "");
};
