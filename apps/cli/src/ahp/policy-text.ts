import { type Policy, PolicyError, type PolicyProblem } from "@harnesskit/policy";
import { oneLine } from "../terminal/text.ts";

/** A problem with its place. */
export const problemLine = (file: string, { line, column, message }: PolicyProblem): string =>
  `${oneLine(file, 1000)}:${line}:${column}: ${oneLine(message, 500)}`;

/** Warnings about a policy, one line each. */
export const policyWarnings = ({ file, warnings }: Pick<Policy, "file" | "warnings">): readonly string[] =>
  warnings.map((warning) => `warning: ${problemLine(file, warning)}`);

/** What is wrong with a policy, in a line. */
export const describePolicyError = (error: unknown): string => {
  if (!PolicyError.isInstance(error))
    return oneLine(error instanceof Error ? error.message : String(error), 500);
  const [first] = error.problems;
  const more = error.problems.length > 1 ? ` (and ${error.problems.length - 1} more)` : "";
  return (first ? problemLine(error.file, first) : oneLine(error.message, 500)) + more;
};
