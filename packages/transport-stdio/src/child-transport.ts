import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import {
  type Channel,
  createByteChannel,
  defineOptions,
  displayText,
  newlineCodec,
  RequestCancelledError,
  systemClock,
  type Transport,
  TransportError,
} from "@harnesskit/wire";
import { childEnvironment } from "./child-environment.ts";
import { ChildPipe } from "./child-pipe.ts";
import type { ChildExit } from "./errors.ts";
import { type LineOptions, lineOptionNames } from "./line-options.ts";

/** What a parent knows about the child at the other end. */
export interface ChildContext {
  readonly pid: number;
  /** Settles when the process is gone, whatever ended it; never rejects. */
  readonly exit: Promise<ChildExit>;
}

export interface ChildTransportOptions extends LineOptions {
  /** The program: a path, or a name that is looked up on the PATH. Not run by a shell. */
  readonly command: string;
  /** @default [] */
  readonly args?: readonly string[] | undefined;
  /** @default the working directory of this process */
  readonly cwd?: string | undefined;
  /** What the child's environment holds in any case. @default {} */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Names that the child inherits from this process, beside PATH, HOME, LANG, LC_*, LANGUAGE, TERM, SHELL, USER,
   * LOGNAME, TMPDIR and TZ. Nothing else is inherited. @default []
   */
  readonly inheritEnv?: readonly string[] | undefined;
  /** How long `close` waits for the child to end by itself; also how long its output is read after its end. @default 2000 */
  readonly closeTimeoutMs?: number | undefined;
  /** How long SIGTERM may take before SIGKILL. @default 2000 */
  readonly killTimeoutMs?: number | undefined;
  /**
   * Where the lines of the child's standard error go: to this process's standard error, nowhere, or to a function,
   * which gets each line as the child wrote it, untrusted and without its end. What the function throws is ignored. @default "inherit"
   */
  readonly stderr?: "inherit" | "ignore" | ((line: string) => void) | undefined;
}

const checkOptions = defineOptions<ChildTransportOptions>("createChildTransport", {
  command: true,
  args: false,
  cwd: false,
  env: false,
  inheritEnv: false,
  closeTimeoutMs: false,
  killTimeoutMs: false,
  stderr: false,
  ...lineOptionNames,
});

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const startChild = async (options: ChildTransportOptions): Promise<{ child: Child; pid: number }> => {
  const { command, args = [], cwd, env = {}, inheritEnv = [] } = options;
  const { platform } = process;
  try {
    const child = spawn(command, [...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: childEnvironment({ source: process.env, platform, env, inheritEnv }),
      // Leads a group of its own, so that all of it can be ended, and gets no Ctrl-C that was meant for us.
      detached: platform !== "win32",
      windowsHide: true,
      cwd,
    });
    const { pid } = child;
    if (pid !== undefined) return { child, pid };
    const [error] = (await once(child, "error")) as [unknown];
    throw error;
  } catch (cause) {
    throw spawnError(options, cause);
  }
};

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

const problems: Readonly<Record<string, string>> = {
  ENOENT: "was not found: install it, put it on the PATH or pass its full path",
  EACCES: "may not be run: make the file executable or pass another command",
};

/** The system's own error is not kept as the cause, because it repeats the arguments. */
const spawnError = ({ command, cwd }: ChildTransportOptions, cause: unknown): TransportError => {
  const { code = "unknown" } = cause as NodeJS.ErrnoException;
  const quoted = (text: string) => `"${displayText(text, { maxLength: 200 })}"`;
  if (cwd !== undefined && !isDirectory(cwd)) {
    const text = `the working directory ${quoted(cwd)} cannot be used: create it or pass another cwd`;
    return new TransportError(text);
  }
  return new TransportError(
    `the command ${quoted(command)} ${problems[code] ?? `could not be started (${code})`}`,
  );
};

const connect = async (
  options: ChildTransportOptions,
  signal: AbortSignal | undefined,
): Promise<Channel<ChildContext>> => {
  if (signal?.aborted) throw new RequestCancelledError("connect", { cause: signal.reason });
  const { child, pid } = await startChild(options);
  const { command, clock = systemClock, closeTimeoutMs = 2000, killTimeoutMs = 2000 } = options;
  const { stderr = "inherit", maxBufferedBytes } = options;
  const pipe = new ChildPipe(child, pid, {
    ...{ command, clock, killTimeoutMs, stderr },
    drainTimeoutMs: closeTimeoutMs,
  });
  if (signal?.aborted) {
    pipe.kill();
    await pipe.exit;
    throw new RequestCancelledError("connect", { cause: signal.reason });
  }
  const context = { pid, exit: pipe.exit };
  const codec = newlineCodec(options);
  return createByteChannel(pipe, { codec, context, clock, closeTimeoutMs, maxBufferedBytes });
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
  checkOptions(options);
  return { connect: ({ signal } = {}) => connect(options, signal) };
};
