import { McpError } from "./errors.ts";

/** An error and its causes. */
const chainOf = (thrown: unknown): Error[] => {
  const chain: Error[] = [];
  for (let error = thrown; error instanceof Error && chain.length < 10; error = error.cause)
    chain.push(error);
  return chain;
};

/** The message of an error; of one of a schema, its first problem. */
const problemOf = (error: Error): string => {
  const [issue] = "issues" in error ? (error.issues as { path: PropertyKey[]; message: string }[]) : [];
  return issue ? `${issue.path.map(String).join(".")}: ${issue.message}` : error.message;
};

/** What went wrong, from the error to its cause. Untrusted. */
export const messagesOf = (thrown: unknown): string =>
  chainOf(thrown).slice(0, 3).map(problemOf).join(": ") || String(thrown);

/** The error of ours that was thrown below the SDK, which wraps it. */
export const ownErrorOf = (thrown: unknown): McpError | undefined =>
  chainOf(thrown).find((error) => McpError.isInstance(error));

/** The system's code for what went wrong. */
export const systemCodeOf = (thrown: unknown): string | undefined =>
  chainOf(thrown)
    .map((error) => (error as NodeJS.ErrnoException).code)
    .find((code) => /^E[A-Z]+$/.test(String(code)));
