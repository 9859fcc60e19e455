import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { settleWithin } from "@harnesskit/wire/time";
import type { ByteStream } from "../link/byte-link.ts";
import type { TargetPlace } from "./target-spec.ts";

/** The exit of a process: its code, or null after a signal. */
export interface Exit {
  readonly exitCode: number | null;
  readonly reason: string;
}

/** A command of the user, with everything that it starts. */
export interface TargetProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<Exit>;
  /** What it wrote to standard error, the newest part. */
  log(): string;
  /** Ends it, by its input, SIGTERM and SIGKILL in turn; `kill` begins with the last. */
  stop(how?: "stop" | "kill"): Promise<void>;
  /** Its standard input and output. */
  stream(): ByteStream;
}

const signalGroup = (child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // The group is gone.
  }
};

const endOf = (code: number | null, signal: string | null, log: string): Exit => {
  const how = code === null ? `the target was ended by ${signal}` : `the target exited with ${code}`;
  const lastLine = log.trim().split("\n").at(-1);
  return { exitCode: code, reason: lastLine ? `${how}: ${lastLine}` : how };
};

/** The environment of a target: that of this process, and what the place says. */
const environmentOf = (place: TargetPlace): NodeJS.ProcessEnv => ({
  ...process.env,
  CONFORMANCE_ENDPOINT: place.endpoint,
  CONFORMANCE_TOKEN: place.token,
  CONFORMANCE_DIR: place.directory,
});

/** Starts a command in a process group of its own, in the working directory of this process. */
export const startProcess = (
  command: string,
  place: TargetPlace,
  limits: { readonly stopTimeoutMs: number; readonly maxLogBytes: number },
): TargetProcess => {
  const child = spawn(command, { shell: true, detached: true, env: environmentOf(place), stdio: "pipe" });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-limits.maxLogBytes);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => resolve(endOf(code, signal, log)));
    child.once("error", (error) => resolve({ exitCode: null, reason: error.message }));
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const endsWithin = async (timeoutMs: number): Promise<boolean> =>
    (await settleWithin(exited, { name: "the target", timeoutMs })).status === "done";
  const stop = async (how: "stop" | "kill" = "stop"): Promise<void> => {
    if (how === "stop" && !isOver()) {
      child.stdin.end();
      child.stdout.resume();
      if (!(await endsWithin(Math.min(500, limits.stopTimeoutMs)))) {
        signalGroup(child, "SIGTERM");
        await endsWithin(limits.stopTimeoutMs);
      }
    }
    // Also what the command left behind in its group.
    signalGroup(child, "SIGKILL");
    // A process that left the group may hold the pipes open: it is not waited for.
    if (!(await endsWithin(limits.stopTimeoutMs)))
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    await exited;
  };
  return {
    child,
    exited,
    log: () => log,
    stop,
    stream: () => ({
      onData: (listener) => void child.stdout.on("data", listener),
      onEnd: (listener) => void exited.then(listener),
      write: async (bytes) => {
        if (child.stdin.write(bytes)) return;
        const settled = new AbortController();
        const drained = once(child.stdin, "drain", { signal: settled.signal }).catch(() => {});
        await Promise.race([drained, exited]);
        settled.abort();
      },
      end: () => void child.stdin.end(),
      pause: () => void child.stdout.pause(),
      resume: () => void child.stdout.resume(),
      close: () => stop(),
    }),
  };
};
