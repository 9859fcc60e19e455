import { randomUUID } from "node:crypto";
import { lstat, stat } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { dirname } from "node:path";
import { hubPlace } from "@harnesskit/hub/place";
import { privatePathProblem } from "@harnesskit/node-kit";
import {
  type HookFrame,
  type HookReply,
  type HookReplyFrame,
  maxHookFrameBytes,
  maxHookInputBytes,
  maxHookPreviewLength,
} from "./hook-frames.ts";

/** What a hook's program was started with. */
export interface RunHookOptions {
  /** The id of the host, such as "codex". */
  readonly host: string;
  /** @default that of this user's hub: `hubPlace()` of `@harnesskit/hub/place` */
  readonly socket?: string | undefined;
  /** How long the host waits for the hook, in milliseconds; the answer comes two seconds before. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** The host's name of the event, for hosts whose input does not have it. @default undefined */
  readonly event?: string | undefined;
  /**
   * What a call would change, as a unified diff, by the host's input and the directory of the agent's work; undefined for what is not an edit.
   * One that takes longer than a second or fails is left out. @default no preview
   */
  readonly previewOf?: ((input: string, workspace: string) => Promise<string | undefined>) | undefined;
}

/** The streams of the process. */
export interface HookStreams {
  readonly stdin: NodeJS.ReadableStream;
}

const marginMs = 2000;
const defaultTimeoutMs = 30_000;
/** How long a preview may take. */
const previewMs = 1000;

/** As `deadlineMs` of agent-hooks, which would load all that it imports. */
const deadlineOf = (timeoutMs: number): number => Math.max(timeoutMs - marginMs, Math.floor(timeoutMs / 2));

const refusal = (host: string, reason: string): HookReply => ({
  exitCode: 2,
  stdout: "",
  stderr: `harness guard (${host}): ${reason}\n`,
});

const readInput = (stdin: NodeJS.ReadableStream): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    stdin.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxHookInputBytes) resolve(undefined);
      else chunks.push(chunk);
    });
    stdin.once("error", reject);
    stdin.once("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });

const isObjectText = (text: string): boolean => {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value);
};

const isReply = (value: unknown): value is HookReply => {
  if (typeof value !== "object" || value === null) return false;
  const { exitCode, stdout, stderr } = value as Partial<HookReply>;
  if (typeof stdout !== "string" || typeof stderr !== "string") return false;
  // Hosts run the tool when a hook ends with 0 and writes what they cannot read.
  if (exitCode === 0) return isObjectText(stdout);
  // A refusal without a reason lets the call pass on two hosts.
  return exitCode === 2 && stderr.trim() !== "";
};

/** The reply, or what is wrong with a line, or with an output in it, that is not the JSON it must be. */
const readReply = (line: string, id: string): HookReply | string => {
  try {
    const value: unknown = JSON.parse(line);
    if (!isReply(value)) return "the hub's answer is not valid";
    const { id: answered, exitCode, stdout, stderr } = value as HookReplyFrame;
    // A refusal of what the hub could not read has no id, and lets nothing pass.
    if (answered === id || (answered === undefined && exitCode === 2)) return { exitCode, stdout, stderr };
    return "the hub's answer is not to this request: update the hub or the hook's program";
  } catch {
    return "the hub's answer is not valid";
  }
};

const whyNotConnected = (error: NodeJS.ErrnoException, socket: string): string =>
  error.code === "ENOENT" || error.code === "ECONNREFUSED"
    ? `the hub does not run at ${socket}: start it with harness hub`
    : `the hub cannot be reached at ${socket} (${error.code ?? error.message})`;

/** Why what answers at the socket may be another user's program; undefined where it cannot be, or where nothing is. */
const whyNotBelieved = async (socket: string): Promise<string | undefined> => {
  const directory = dirname(socket);
  const found = await lstat(socket).then(
    () => stat(directory),
    () => undefined,
  );
  const problem = found && privatePathProblem(found, { kind: "directory", othersMay: "nothing" });
  return problem && `the hub's directory ${directory} ${problem}`;
};

/** The preview; undefined where it fails, takes too long or is too large. */
const previewWithin = async (
  preview: Promise<string | undefined> | undefined,
  ms: number,
): Promise<string | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  const made = await Promise.race([preview, late]).catch(() => undefined);
  clearTimeout(timer);
  return made !== undefined && made.length <= maxHookPreviewLength ? made : undefined;
};

/** Sends the frame, and resolves with the reply or with the reason for its absence. */
const exchange = (
  path: string,
  frame: HookFrame,
  open: (socket: Socket) => void,
): Promise<HookReply | string> =>
  new Promise((resolve) => {
    let isConnected = false;
    let bytes = 0;
    const chunks: Buffer[] = [];
    const socket = createConnection({ path, allowHalfOpen: true });
    open(socket);
    socket.once("connect", () => {
      isConnected = true;
      socket.write(`${JSON.stringify(frame)}\n`);
    });
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxHookFrameBytes) return resolve("the hub's answer is too large");
      chunks.push(chunk);
      if (!chunk.includes(10)) return;
      const [line = ""] = Buffer.concat(chunks).toString("utf8").split("\n", 1);
      resolve(readReply(line, frame.id));
    });
    socket.once("error", (error) => {
      resolve(isConnected ? "the hub closed the connection" : whyNotConnected(error, path));
    });
    socket.once("end", () =>
      resolve("the hub closed the connection without an answer: it is full or stopping"),
    );
  });

/**
 * Answers one call of a hook: reads the host's input, sends it to the guard's socket, and resolves with what the process must write and
 * exit with. Exit code 0 comes with one JSON object on standard output, and exit code 2 with a reason on standard error: without a guard, with
 * one that is full or garbled, for a socket in a directory that others can use, for input above 8 MiB, and two seconds before the host
 * stops waiting. Loads little, because it is started for each call. Never rejects.
 */
export const runHook = async (
  {
    host,
    socket: path = hubPlace().guardSocket,
    timeoutMs = defaultTimeoutMs,
    event,
    previewOf,
  }: RunHookOptions,
  { stdin }: HookStreams,
): Promise<HookReply> => {
  let socket: Socket | undefined;
  let timer: NodeJS.Timeout | undefined;
  const seconds = Math.round(deadlineOf(timeoutMs) / 100) / 10;
  const timeout = new Promise<HookReply>((resolve) => {
    timer = setTimeout(() => {
      resolve(refusal(host, `no decision within ${seconds} s. Repeat the same call later`));
    }, deadlineOf(timeoutMs));
  });
  const answer = async (): Promise<HookReply> => {
    const startedAt = performance.now();
    const input = await readInput(stdin);
    if (input === undefined) return refusal(host, `the hook's input exceeds ${maxHookInputBytes} bytes`);
    const problem = await whyNotBelieved(path);
    if (problem !== undefined) return refusal(host, problem);
    const cwd = process.cwd();
    const preview = await previewWithin(previewOf?.(input, cwd), Math.min(previewMs, timeoutMs / 10));
    const leftMs = Math.max(1, Math.floor(timeoutMs - (performance.now() - startedAt)));
    const frame: HookFrame = {
      version: 1,
      id: randomUUID(),
      host,
      input,
      cwd,
      timeoutMs: leftMs,
      event,
      preview,
      // Left out of the line where they are not set.
      traceparent: process.env.TRACEPARENT?.slice(0, 200),
      tracestate: process.env.TRACESTATE?.slice(0, 600),
    };
    const reply = await exchange(path, frame, (opened) => {
      socket = opened;
    });
    return typeof reply === "string" ? refusal(host, reply) : reply;
  };
  try {
    return await Promise.race([
      timeout,
      answer().catch((error: unknown) =>
        refusal(host, `the hook failed: ${error instanceof Error ? error.message : String(error)}`),
      ),
    ]);
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
};
