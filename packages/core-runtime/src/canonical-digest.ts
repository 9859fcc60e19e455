import { sha256Digest } from "@harnesskit/node-kit";
import { canonicalJson } from "@harnesskit/wire/json";

/**
 * The digest of a value's canonical JSON; undefined for a value that has none, such as a string with half a surrogate pair.
 */
export const canonicalDigest = (value: unknown): string | undefined => {
  try {
    return sha256Digest(canonicalJson(value));
  } catch {
    return undefined;
  }
};
