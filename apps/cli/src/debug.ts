import { HarnessError } from "@harnesskit/wire";
import { describeCauses } from "./cli-error.ts";
import { oneLine } from "./terminal/one-line.ts";

/** True where HARNESS_DEBUG asks for causes and stacks on stderr. */
export const isDebugging = (env: NodeJS.ProcessEnv = process.env): boolean =>
  !["", "0", undefined].includes(env.HARNESS_DEBUG);

/** Writes a failure that has no caller to stderr: one safe line, with its causes where HARNESS_DEBUG is set. */
export const logFailure = (where: string, error: unknown): void => {
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${where}: ${oneLine(message, 500)}${code}\n`);
  if (isDebugging()) process.stderr.write(`${describeCauses(error)}\n`);
};
