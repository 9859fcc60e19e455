import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { readOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { type ParsePolicyOptions, parsePolicy } from "../parse-policy.ts";
import type { Policy } from "../policy.ts";
import { PolicyError } from "../policy-error.ts";
import { resolvePolicyLimits } from "../policy-limits.ts";
import { secretFunctions } from "../secrets/secret-functions.ts";

/**
 * Reads a text file of at most `maxLength` characters; its name may be a link, and it is a regular file. Throws `policy_unreadable`, `policy_too_large`, or `policy_syntax`
 * for what is not UTF-8.
 */
export const readBounded = async (file: string, maxLength: number): Promise<string> => {
  const fail = (
    code: "policy_unreadable" | "policy_too_large" | "policy_syntax",
    message: string,
    cause?: unknown,
  ) => new PolicyError(code, file, [{ message, path: "", line: 1, column: 1 }], { cause });
  // A character has at most three bytes for each of its UTF-16 units.
  const maxBytes = maxLength * 3;
  let bytes: Buffer;
  try {
    bytes = await readOwnFile(file, { maxBytes, followLinks: true });
  } catch (cause) {
    if (UnsafeFileError.isInstance(cause)) {
      if (cause.reason === "too_large")
        throw fail("policy_too_large", `the file has more than ${maxBytes} bytes`);
      throw fail("policy_unreadable", `the file ${cause.problem}`, cause);
    }
    const code = systemErrorCode(cause);
    const why = code === "ENOENT" ? "there is no such file" : `the file cannot be read (${code})`;
    throw fail("policy_unreadable", why, cause);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fail("policy_syntax", "the file is not UTF-8", cause);
  }
};

/**
 * Reads a policy file and makes it ready. Its workspace is the working directory unless the options or the file say
 * another; an action that would change the file is asked about where the policy would let it pass; its expressions can call
 * `secretFunctions` beside `functions`. The shipped policy needs the functions of `commandJudge` from
 * `@harnesskit/command-judge`. Throws `PolicyError`.
 */
export const loadPolicy = async (
  file: string,
  options: Omit<ParsePolicyOptions, "file"> = {},
): Promise<Policy> => {
  const { workspace = process.cwd(), functions = [] } = options;
  const all = [...secretFunctions, ...functions];
  const text = await readBounded(file, resolvePolicyLimits(options.limits).maxFileLength);
  const own = resolve(file);
  const ownFiles = [...new Set([own, await realpath(own).catch(() => own), ...(options.ownFiles ?? [])])];
  return parsePolicy(text, { ...options, functions: all, workspace, file, ownFiles });
};
