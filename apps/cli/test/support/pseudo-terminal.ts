import { spawnSync } from "node:child_process";
import { binPath, type RunningProgram, startProgram } from "./harness.ts";

/** True where util-linux's `script` can make a pseudo-terminal. */
export const hasPseudoTerminal = (): boolean =>
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

export const withoutPseudoTerminal = "there is no `script` of util-linux to make a pseudo-terminal";

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly columns?: number;
  /** What the shell does with its output, such as `> file`. @default nothing */
  readonly redirection?: string;
}

/** The program on a pseudo-terminal, of 80 columns where nothing else is said. Its output is what the terminal gets. */
export const startInTerminal = (
  args: readonly string[],
  { cwd, env = {}, columns = 80, redirection = "" }: TerminalOptions,
): RunningProgram => {
  const line = [process.execPath, binPath, ...args].map(quoted).join(" ");
  const command = `stty rows ${columns === 0 ? 0 : 40} cols ${columns}; exec ${line} ${redirection}`;
  return startProgram("script", ["-qfec", command, "/dev/null"], {
    cwd,
    env: { TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
  });
};
