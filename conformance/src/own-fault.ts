/** Whether an error is a mistake in the suite's own code, and says nothing of the target. */
export const isOwnFault = (error: unknown): boolean =>
  error instanceof ReferenceError || (error instanceof TypeError && !("code" in error));

/** What the command says of such a mistake, which is no verdict: with the stack, for a report to this project. */
export const ownFault = (error: unknown): string =>
  `conformance: the suite itself failed, which is no verdict about the target: ${error instanceof Error ? error.stack : String(error)}\n`;
