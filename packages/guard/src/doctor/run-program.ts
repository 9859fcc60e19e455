import { spawn } from "node:child_process";
import { dirname } from "node:path";

export interface ProgramRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a program ended. */
export interface ProgramEnd {
  /** Undefined where it was killed. */
  readonly code: number | undefined;
  readonly isTimedOut: boolean;
  /** The last of what it wrote, both streams. */
  readonly output: string;
}

const maxOutput = 16 * 1024;

/** Sends what leaves the machine to a port where nothing listens, for programs that go by these variables. */
const nowhere = "http://127.0.0.1:9";
const offline = {
  HTTP_PROXY: nowhere,
  HTTPS_PROXY: nowhere,
  http_proxy: nowhere,
  https_proxy: nowhere,
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
};

/**
 * Runs a program with nothing of this process's environment but `PATH`, and ends it with all that it has started. Rejects as the system
 * does if it does not start.
 */
export const runProgram = ({ program, args, env, cwd, timeoutMs, signal }: ProgramRun): Promise<ProgramEnd> =>
  new Promise((resolve, reject) => {
    // A program of npm starts the `node` of the PATH.
    const PATH = [process.env.PATH, dirname(process.execPath)].filter(Boolean).join(":");
    const child = spawn(program, [...args], {
      cwd,
      env: { PATH, TERM: "dumb", ...offline, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    let isTimedOut = false;
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended, and so has all that it has started.
      }
    };
    const timer = setTimeout(() => {
      isTimedOut = true;
      kill();
    }, timeoutMs);
    signal?.addEventListener("abort", kill, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-maxOutput);
      });
    }
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      kill();
    };
    child.once("error", (error) => {
      end();
      reject(error);
    });
    // What a tool has left behind may hold the streams open.
    child.once("exit", (code) => {
      end();
      setImmediate(() => resolve({ code: code ?? undefined, isTimedOut, output }));
    });
    if (signal?.aborted) kill();
  });
