import { runProgram } from "./run-program.ts";
import { withDirectory } from "./with-directory.ts";

const versionPattern = /\d+\.\d+\.\d+(?:[\w.-]*\w)?/;

export interface ProgramVersionOptions {
  readonly program: string;
  /** @default 15000 */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The version that a program answers to `--version`, such as "2.1.332", started in an empty home of its own; undefined where it says none.
 * Rejects as the system does where the program does not start.
 */
export const programVersion = ({
  program,
  timeoutMs = 15_000,
  signal,
}: ProgramVersionOptions): Promise<string | undefined> =>
  withDirectory(async (home) => {
    const run = { program, args: ["--version"], env: { HOME: home }, cwd: home, timeoutMs, signal };
    return versionPattern.exec((await runProgram(run)).output)?.[0];
  });
