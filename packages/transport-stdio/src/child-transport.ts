import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import {
  type Channel,
  createByteChannel,
  displayText,
  newlineCodec,
  RequestCancelledError,
  systemClock,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { childEnvironment } from "./child-environment.ts";
import { ChildPipe } from "./child-pipe.ts";
import type { ChildContext, ChildTransportOptions } from "./child-transport-options.ts";
import { checkChildTransportOptions } from "./option-names.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const startChild = (options: ChildTransportOptions): Child => {
  const { command, args = [], cwd, env = {}, inheritEnv = [] } = options;
  const { platform } = process;
  return spawn(command, [...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: childEnvironment({ source: process.env, platform, env, inheritEnv }),
    // Leads a group of its own, so that all of it can be ended, and gets no Ctrl-C that was meant for us.
    detached: platform !== "win32",
    windowsHide: true,
    cwd,
  });
};

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

/** The system's own error is not kept as the cause, because it repeats the arguments. */
const spawnError = ({ command, cwd }: ChildTransportOptions, cause: unknown): TransportError => {
  const { code = "unknown" } = cause as NodeJS.ErrnoException;
  const quoted = (text: string) => `"${displayText(text, { maxLength: 200 })}"`;
  if (cwd !== undefined && !isDirectory(cwd)) {
    const text = `the working directory ${quoted(cwd)} cannot be used: create it or pass another cwd`;
    return new TransportError(text);
  }
  const problems: Readonly<Record<string, string>> = {
    ENOENT: "was not found: install it, put it on the PATH or pass its full path",
    EACCES: "may not be run: make the file executable or pass another command",
  };
  const problem = problems[code] ?? `could not be started (${code})`;
  return new TransportError(`the command ${quoted(command)} ${problem}`);
};

const openPipe = async (options: ChildTransportOptions): Promise<{ pipe: ChildPipe; pid: number }> => {
  try {
    const child = startChild(options);
    const { pid } = child;
    if (pid === undefined) {
      const [error] = (await once(child, "error")) as [unknown];
      throw error;
    }
    const { clock = systemClock, closeTimeoutMs = 2000, killTimeoutMs = 2000 } = options;
    const pipe = new ChildPipe({
      child,
      pid,
      clock,
      killTimeoutMs,
      command: displayText(options.command, { maxLength: 200 }),
      drainTimeoutMs: closeTimeoutMs,
      exitGraceMs: options.exitGraceMs ?? 250,
      stderr: options.stderr ?? "inherit",
      maxStderrBytes: options.maxStderrBytes ?? 8192,
    });
    return { pipe, pid };
  } catch (cause) {
    throw spawnError(options, cause);
  }
};

const connect = async (
  options: ChildTransportOptions,
  signal: AbortSignal | undefined,
): Promise<Channel<ChildContext>> => {
  if (signal?.aborted) throw new RequestCancelledError("connect", { cause: signal.reason });
  const { pipe, pid } = await openPipe(options);
  if (signal?.aborted) {
    pipe.kill();
    await pipe.exit;
    throw new RequestCancelledError("connect", { cause: signal.reason });
  }
  const { clock = systemClock, closeTimeoutMs = 2000, maxBufferedBytes } = options;
  return createByteChannel(pipe, {
    codec: newlineCodec(options),
    context: { pid, exit: pipe.exit },
    clock,
    closeTimeoutMs,
    maxBufferedBytes,
  });
};

/**
 * Starts a program, without a shell, and speaks with it over its standard input and output, one JSON message a line.
 * Each `connect` starts a process of its own. It rejects with `transport_failed` when the program cannot be started,
 * with a sentence that says what to do, and with `request_cancelled` when its signal aborts.
 *
 * Closing the channel ends the child's input, then sends SIGTERM and then SIGKILL to its process group, each after its
 * timeout; it settles when the process is gone. A child that ends by itself with a code other than 0 or by a signal
 * closes the channel with `child_exited`. Whatever remains of its group is killed in each case.
 */
export const createChildTransport = (options: ChildTransportOptions): Transport<ChildContext> => {
  checkChildTransportOptions(options);
  return { connect: ({ signal } = {}) => connect(options, signal) };
};
