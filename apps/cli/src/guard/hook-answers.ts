import { execFile } from "node:child_process";
import { hookProgramTitle } from "./hook-program.ts";

const maxOutputBytes = 4096;

/**
 * What is wrong with the words that hooks are to start; undefined where the hook's program answers. They are started once, without a
 * shell, with `--version`.
 */
export const hookProgramProblem = (
  [program, ...args]: readonly [string, ...string[]],
  { cwd, timeoutMs = 10_000 }: { readonly cwd: string; readonly timeoutMs?: number },
): Promise<string | undefined> =>
  new Promise((resolve) => {
    const options = { cwd, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: maxOutputBytes } as const;
    const child = execFile(program, [...args, "--version"], options, (error, stdout) => {
      if (error?.code === "ENOENT") resolve("is not there");
      else if (error?.killed && error.signal === "SIGKILL")
        resolve(`does not answer in ${timeoutMs / 1000} s`);
      else if (error || !stdout.startsWith(`${hookProgramTitle} `))
        resolve("does not answer as the hook's program does");
      else resolve(undefined);
    });
    child.stdin?.once("error", () => {}).end();
  });
