import { type Policy, PolicyError, type PolicyProblem } from "@harnesskit/policy";

/** A problem with its place. */
export const problemLine = (file: string, { line, column, message }: PolicyProblem): string =>
  `${file}:${line}:${column}: ${message}`;

/** Warnings about a policy, one line each. */
export const policyWarnings = ({ file, warnings }: Pick<Policy, "file" | "warnings">): readonly string[] =>
  warnings.map((warning) => `warning: ${problemLine(file, warning)}`);

/** What is wrong with a policy, in a line. */
export const describePolicyError = (error: unknown): string => {
  if (!PolicyError.isInstance(error)) return error instanceof Error ? error.message : String(error);
  const [first] = error.problems;
  const more = error.problems.length > 1 ? ` (and ${error.problems.length - 1} more)` : "";
  return (first ? problemLine(error.file, first) : error.message) + more;
};
