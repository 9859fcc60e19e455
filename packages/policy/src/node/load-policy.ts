import { readOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { type ParsePolicyOptions, parsePolicy } from "../parse-policy.ts";
import type { Policy } from "../policy.ts";
import { PolicyError, type PolicyErrorCode } from "../policy-error.ts";
import { policyLimits } from "../policy-limits.ts";
import { withOwnFiles } from "./own-files.ts";

/** Reads a file of `maxBytes` at most; its name may be a link. Throws `policy_unreadable` or `policy_too_large`. */
const readBytes = async (file: string, maxBytes: number): Promise<Uint8Array> => {
  try {
    return await readOwnFile(file, { maxBytes, followLinks: true });
  } catch (cause) {
    if (!UnsafeFileError.isInstance(cause)) {
      const code = systemErrorCode(cause);
      const message = code === "ENOENT" ? "the file does not exist" : `the file cannot be read (${code})`;
      throw fileError("policy_unreadable", file, message, cause);
    }
    throw cause.reason === "too_large"
      ? fileError("policy_too_large", file, `the file has more than ${maxBytes} bytes`)
      : fileError("policy_unreadable", file, `the file ${cause.problem}`, cause);
  }
};

const fileError = (code: PolicyErrorCode, file: string, message: string, cause?: unknown): PolicyError =>
  new PolicyError(code, file, [{ message, path: "", line: 1, column: 1 }], { cause });

/** Reads a UTF-8 file within the limits of a policy. Throws {@link PolicyError}; `policy_syntax` for other encodings. */
export const readPolicyText = async (file: string, limits: ParsePolicyOptions["limits"]): Promise<string> => {
  // A character has at most three bytes for each of its UTF-16 units.
  const bytes = await readBytes(file, policyLimits.resolve(limits).maxFileLength * 3);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fileError("policy_syntax", file, "the file is not UTF-8", cause);
  }
};

/**
 * Reads a policy file and compiles it. Its workspace is the working directory unless the options or the file name another;
 * an action that would change the file is escalated where the policy would allow it; expressions can call `secretFunctions`
 * in addition to `functions`. The shipped policy needs the functions of `commandJudge` from `@harnesskit/command-judge`.
 * Throws `PolicyError`.
 */
export const loadPolicy = async (
  file: string,
  options: Omit<ParsePolicyOptions, "file"> = {},
): Promise<Policy> => {
  const text = await readPolicyText(file, options.limits);
  return parsePolicy(text, { ...(await withOwnFiles([file], options)), file });
};
