import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Where the programs are. */
export const directory = fileURLToPath(new URL("../..", import.meta.url));

/** Python with the standard library only (`-S`), and nothing of the user's settings (`-E`, `-s`). */
export const python = (...args: string[]): string[] => ["-E", "-s", "-S", "-X", "dev", "-B", ...args];

/** The same as one text, for an agent that starts its harness. */
export const pythonCommand = (...args: string[]): string => ["python3", ...python(...args)].join(" ");

export const token = "the-token-of-these-tests";

/** A directory of the test's own, with a token in it. */
export const makeDirectory = async (): Promise<{ path: string; tokenFile: string }> => {
  const path = await realpath(await mkdtemp(join(tmpdir(), "hk-python-harness-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const tokenFile = join(path, "token");
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  return { path, tokenFile };
};

export interface ProcessEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of Python to its end. It is killed with the test at the latest. */
export const runPython = async (
  args: readonly string[],
  { cwd = directory, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<ProcessEnd> => {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn("python3", python(...args), {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: code as number | null, stdout, stderr };
};

/** Starts the Python harness on a port, and gives its URL. */
export const serveHttp = async (tokenFile: string): Promise<string> => {
  const args = python("harness.py", "--http", "0", tokenFile);
  const child = spawn("python3", args, { cwd: directory, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url === undefined) throw new RangeError(`the harness did not start: ${line}`);
    child.stderr.resume();
    return url;
  }
  throw new RangeError("the harness ended");
};
