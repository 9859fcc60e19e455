import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@harnesskit/agent-sdk";
import { BoundedOutput } from "./bounded-output.ts";
import { endGroup, guardGroup } from "./process-group.ts";

/** How long output that is still on its way is waited for once nothing of the command runs any more. */
const drainMs = 250;

/** A command and its bounds. */
export interface CommandRequest {
  readonly command: string;
  /** Absolute path of the directory it starts in. */
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** Time after which it is ended, in milliseconds. @default it ends by itself, or is stopped */
  readonly timeoutMs?: number | undefined;
  readonly killGraceMs: number;
  readonly maxOutputBytes: number;
  /** Bytes of each output that `log` receives. @default 0 */
  readonly maxStreamedBytes?: number | undefined;
  /** Whether it can be written to. @default its standard input is empty */
  readonly hasInput?: boolean | undefined;
  readonly log?: ((stream: "stdout" | "stderr", text: string) => void) | undefined;
}

/** What a command has printed: of a long output its start and its end. */
export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

/** How a command ended. */
export interface CommandResult extends CommandOutput {
  readonly ended: "exit" | "timeout" | "cancelled";
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command that was started. */
export interface RunningCommand {
  /** Settles when the shell has ended and nothing that it started in its session runs any more. Never rejects. */
  readonly done: Promise<CommandResult>;
  /** What it has printed so far. */
  output(): CommandOutput;
  /** Writes to its standard input, and closes that where `end` is true. Rejects with the system's error. */
  write(text: string, end: boolean): Promise<void>;
  /** Ends it with all that it started in its session. */
  stop(): void;
}

/** Starts a shell command in its own session. Rejects with the system's error if the shell cannot start. */
export async function startCommand(request: CommandRequest): Promise<RunningCommand> {
  const child = await startShell(request);
  const leader = child.pid as number;
  const release = guardGroup(leader);
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const outputs = { stdout: collect(child, "stdout", request), stderr: collect(child, "stderr", request) };
  const output = (): CommandOutput => {
    const { stdout, stderr } = outputs;
    return {
      stdout: stdout.kept.text(),
      stderr: stderr.kept.text(),
      truncated: stdout.kept.truncated || stderr.kept.truncated,
    };
  };

  let ended: CommandResult["ended"] = "exit";
  let ending: Promise<void> | undefined;
  const stop = (reason: CommandResult["ended"]) => {
    if (ending !== undefined) return;
    ended = reason;
    ending = endGroup(leader, request.killGraceMs);
  };
  const { timeoutMs } = request;
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop("timeout"), timeoutMs);

  const finish = async (): Promise<CommandResult> => {
    const [exitCode, signal] = await exited;
    ending ??= endGroup(leader, request.killGraceMs);
    await ending;
    const drained = new AbortController();
    const bound = delay(drainMs, undefined, { signal: drained.signal }).catch(() => undefined);
    await Promise.race([closed, bound]);
    drained.abort();
    outputs.stdout.end();
    outputs.stderr.end();
    clearTimeout(timer);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    release();
    return { ended, exitCode, signal, ...output() };
  };
  return {
    done: finish(),
    output,
    write: (text, end) => writeTo(child, text, end),
    stop: () => stop("cancelled"),
  };
}

/** Runs a shell command to its end, or until `signal` aborts. Rejects with the system's error if the shell cannot start. */
export async function runCommand(request: CommandRequest, signal: AbortSignal): Promise<CommandResult> {
  const command = await startCommand(request);
  signal.addEventListener("abort", command.stop, { once: true });
  if (signal.aborted) command.stop();
  try {
    return await command.done;
  } finally {
    signal.removeEventListener("abort", command.stop);
  }
}

const writeTo = ({ stdin }: ChildProcess, text: string, end: boolean): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error?: Error | null) => (error ? reject(error) : resolve());
    if (!stdin?.writable) reject(new ToolError("tool.failed", "its standard input is closed"));
    else if (end) stdin.end(text, settle);
    else stdin.write(text, settle);
  });

async function startShell({ command, cwd, env, hasInput }: CommandRequest): Promise<ChildProcess> {
  const windows = process.platform === "win32";
  const [file, args] = windows
    ? [process.env.ComSpec ?? "cmd.exe", ["/d", "/s", "/c", `"${command}"`]]
    : existsSync("/bin/bash")
      ? // Where its input is a socket, as it is here, bash reads the user's .bashrc, which may print, or wait.
        ["/bin/bash", ["--norc", "-c", command]]
      : ["/bin/sh", ["-c", command]];
  const child = spawn(file, args, {
    cwd,
    env,
    // A session and process group of its own, so that all it starts can be ended together.
    detached: !windows,
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
    windowsHide: true,
    windowsVerbatimArguments: windows,
  });
  await once(child, "spawn");
  // Later errors concern signals that cannot be sent; the group is ended by other means.
  child.on("error", () => undefined);
  // A write after the command has closed its input is refused by itself.
  child.stdin?.on("error", () => undefined);
  return child;
}

/** Keeps and streams one output of the command, until `end`. */
function collect(
  child: ChildProcess,
  stream: "stdout" | "stderr",
  request: CommandRequest,
): { readonly kept: BoundedOutput; end(): void } {
  const kept = new BoundedOutput(request.maxOutputBytes);
  const decoder = new StringDecoder("utf8");
  let room = request.log === undefined ? -1 : (request.maxStreamedBytes ?? 0);
  const log = (text: string) => {
    if (text === "") return;
    try {
      request.log?.(stream, text);
    } catch {
      // An observer must not break the command, which continues without it.
      room = -1;
    }
  };
  child[stream]?.on("data", (chunk: Buffer) => {
    kept.push(chunk);
    if (room < 0) return;
    const part = chunk.subarray(0, room);
    room -= part.length;
    log(decoder.write(part));
    if (part.length === chunk.length || room < 0) return;
    room = -1;
    log("\n[further output is not shown while the command runs]\n");
  });
  child[stream]?.on("error", () => undefined);
  return {
    kept,
    end() {
      child[stream]?.removeAllListeners("data");
      if (room >= 0) log(decoder.end());
    },
  };
}
