import { createHash } from "node:crypto";
import { ChainVerifier } from "../chain-verifier.ts";
import { verifyFile } from "../verify-lines.ts";
import type { VerifyOptions } from "../verify-options.ts";
import type { AuditVerification } from "../verify-result.ts";
import { chunksOf, openFiles } from "./open-files.ts";

const inFile = (found: AuditVerification, file: string): AuditVerification =>
  found.ok ? found : { ok: false, problem: { ...found.problem, file } };

/**
 * Verifies a log in files, those that it was rotated to included, over their whole chain. Resolves with what is wrong
 * first, in which file and line, and why. Rejects with `audit_read_failed` where a file cannot be read or is not there.
 *
 * What only `expectedHead` can find: a log that was written anew as a whole, sealed lines cut off its end, and the oldest
 * files removed (`start.seq` of the result says where the log begins).
 */
export const verifyAuditFile = async (
  path: string,
  options: VerifyOptions = {},
): Promise<AuditVerification> => {
  const all: VerifyOptions = {
    ...options,
    sha256: options.sha256 ?? ((bytes) => createHash("sha256").update(bytes).digest()),
  };
  const verifier = new ChainVerifier(all);
  let last: string | undefined;
  for await (const { path: name, file } of openFiles(path)) {
    if (last !== undefined) {
      const wrong = verifier.nextFile();
      if (wrong !== undefined) return inFile(wrong, last);
    }
    last = name;
    const wrong = await verifyFile(verifier, chunksOf(file), all);
    if (wrong !== undefined) return inFile(wrong, name);
  }
  return inFile(verifier.end(), last ?? path);
};
