import type { ParsePolicyOptions } from "../parse-policy.ts";
import { parsePolicyCases } from "../tools/policy-cases.ts";
import { type PolicyTestReport, testPolicy } from "../tools/test-policy.ts";
import { loadPolicy, readPolicyText } from "./load-policy.ts";

export interface TestPolicyFileOptions extends Omit<ParsePolicyOptions, "file"> {
  /** @default the policy's name with `.test` before its ending, beside it */
  readonly casesFile?: string | undefined;
}

/** The file of a policy's cases: `policy.test.yaml` beside `policy.yaml`. */
export const casesFileOf = (file: string): string =>
  file.replace(/(\.[^./\\]+)?$/, (ending) => `.test${ending}`);

/** Reads a policy and the cases beside it, and tests it. Throws `PolicyError` for either file. */
export const testPolicyFile = async (
  file: string,
  options: TestPolicyFileOptions = {},
): Promise<PolicyTestReport> => {
  const { casesFile = casesFileOf(file), ...rest } = options;
  const { limits } = rest;
  const policy = await loadPolicy(file, rest);
  const text = await readPolicyText(casesFile, limits);
  return testPolicy(policy, parsePolicyCases(text, { file: casesFile, limits }));
};
