import { ChainVerifier } from "./chain-verifier.ts";
import { type LogSource, splitLines } from "./split-lines.ts";
import type { VerifyOptions } from "./verify-options.ts";
import type { AuditVerification } from "./verify-result.ts";

/** Feeds one file to a verifier; gives the first thing that is wrong, if any. */
export const verifyFile = async (
  verifier: ChainVerifier,
  source: LogSource,
  options: VerifyOptions,
): Promise<AuditVerification | undefined> => {
  const lines = splitLines(source, options.maxLineBytes ?? 1024 * 1024);
  try {
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
      const wrong = await verifier.take(next.value, lines);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  } finally {
    await lines.return(undefined);
  }
};

/**
 * Verifies the lines of one file of a log, in its order: chunks of bytes or text with newlines. Resolves with what is
 * wrong first and why; rejects only where the source does.
 *
 * A log that was written anew as a whole, or whose last sealed lines were cut off, agrees with itself: that is found only
 * with `expectedHead`, a head that was kept where the one who changed the log could not reach it.
 */
export const verifyLines = async (
  source: LogSource,
  options: VerifyOptions = {},
): Promise<AuditVerification> => {
  const verifier = new ChainVerifier(options);
  return (await verifyFile(verifier, source, options)) ?? verifier.end();
};
