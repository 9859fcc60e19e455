import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
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
  readonly timeoutMs: number;
  readonly killGraceMs: number;
  readonly maxOutputBytes: number;
  readonly maxStreamedBytes: number;
  readonly signal: AbortSignal;
  log(stream: "stdout" | "stderr", text: string): void;
}

/** How a command ended. */
export interface CommandResult {
  readonly ended: "exit" | "timeout" | "cancelled";
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

/**
 * Runs a shell command in its own session, with an empty standard input, and settles when the shell has ended and
 * nothing that it started in its session runs any more. Rejects with the system's error if the shell cannot start.
 */
export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  const child = await startShell(request);
  const leader = child.pid as number;
  const release = guardGroup(leader);
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const outputs = { stdout: collect(child, "stdout", request), stderr: collect(child, "stderr", request) };

  let ended: CommandResult["ended"] = "exit";
  let ending: Promise<void> | undefined;
  const stop = (reason: CommandResult["ended"]) => {
    if (ending !== undefined) return;
    ended = reason;
    ending = endGroup(leader, request.killGraceMs);
  };
  const cancel = () => stop("cancelled");
  const timer = setTimeout(() => stop("timeout"), request.timeoutMs);
  request.signal.addEventListener("abort", cancel, { once: true });
  if (request.signal.aborted) cancel();
  try {
    const [exitCode, signal] = await exited;
    ending ??= endGroup(leader, request.killGraceMs);
    await ending;
    const drained = new AbortController();
    const bound = delay(drainMs, undefined, { signal: drained.signal }).catch(() => undefined);
    await Promise.race([closed, bound]);
    drained.abort();
    const [stdout, stderr] = [outputs.stdout(), outputs.stderr()];
    return {
      ended,
      exitCode,
      signal,
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: stdout.truncated || stderr.truncated,
    };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", cancel);
    child.stdout?.destroy();
    child.stderr?.destroy();
    release();
  }
}

async function startShell({ command, cwd, env }: CommandRequest): Promise<ChildProcess> {
  const windows = process.platform === "win32";
  const [file, args] = windows
    ? [process.env.ComSpec ?? "cmd.exe", ["/d", "/s", "/c", `"${command}"`]]
    : [existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh", ["-c", command]];
  const child = spawn(file, args, {
    cwd,
    env,
    // A session and process group of its own, so that all it starts can be ended together.
    detached: !windows,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    windowsVerbatimArguments: windows,
  });
  await once(child, "spawn");
  // Later errors concern signals that cannot be sent; the group is ended by other means.
  child.on("error", () => undefined);
  return child;
}

/** Keeps and streams one output of the command; the returned function ends that and gives what was kept. */
function collect(
  child: ChildProcess,
  stream: "stdout" | "stderr",
  request: CommandRequest,
): () => { text: string; truncated: boolean } {
  const kept = new BoundedOutput(request.maxOutputBytes);
  const decoder = new StringDecoder("utf8");
  let room = request.maxStreamedBytes;
  const log = (text: string) => {
    if (text === "") return;
    try {
      request.log(stream, text);
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
  return () => {
    child[stream]?.removeAllListeners("data");
    if (room >= 0) log(decoder.end());
    return { text: kept.text(), truncated: kept.truncated };
  };
}
