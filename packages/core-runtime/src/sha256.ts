import { createHash } from "node:crypto";
import { canonicalJson } from "@harnesskit/wire/json";

/** `sha256:` and the hex digest. */
export const sha256 = (content: string | Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/**
 * The digest of a value's canonical JSON; undefined for a value that has none, such as a string with half a surrogate pair.
 */
export const canonicalDigest = (value: unknown): string | undefined => {
  try {
    return sha256(canonicalJson(value));
  } catch {
    return undefined;
  }
};
