import { HarnessError } from "@harnesskit/wire";
import { describeCauses } from "./cli-error.ts";
import { oneLine } from "./terminal/one-line.ts";

/** True where HARNESS_DEBUG asks for causes and stacks on stderr. */
export const isDebugging = (env: NodeJS.ProcessEnv = process.env): boolean =>
  !["", "0", undefined].includes(env.HARNESS_DEBUG);

/** A failure that has no caller: one safe line, with its causes below where HARNESS_DEBUG is set. */
export const describeFailure = (where: string, error: unknown): string => {
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  const message = error instanceof Error ? error.message : String(error);
  const line = `${where}: ${oneLine(message, 500)}${code}`;
  return isDebugging() ? `${line}\n${describeCauses(error)}` : line;
};

/** Writes a failure that has no caller to stderr. */
export const logFailure = (where: string, error: unknown): void => {
  process.stderr.write(`${describeFailure(where, error)}\n`);
};
