import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ServerProcess {
  /** The first line that it writes. */
  readonly line: string;
  stop(): Promise<void>;
}

/** Starts a program of an example, and waits for its first line. `stop` is SIGKILL. */
export const startProgram = async (
  program: URL,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> => {
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), "line").then(([first]) => String(first)),
    ended.then(() => undefined),
  ]);
  if (line === undefined)
    throw new ReferenceError(`${program.pathname} ended: is the example built (npm run build)?`);
  return { line, stop };
};
