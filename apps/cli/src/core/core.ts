import { dirname } from "node:path";
import { type AuditEntryInput, type AuditSink, createMemoryAuditSink } from "@harnesskit/audit";
import {
  type CallResult,
  createFileDirectives,
  createFileGrants,
  type LaunchedAgent,
  type RunningCore,
  type StreamChunk,
  startCore,
} from "@harnesskit/core-runtime";
import { readOwnFile } from "@harnesskit/node-kit";
import { OutputReferenceSchema } from "@harnesskit/protocol/runtime";
import { displayText, HarnessError } from "@harnesskit/wire";
import { openCoreAuditLog } from "../audit/audit-logs.ts";
import { CliError, ExitCode, isDebugging, logFailure, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { oneLine, safeJson, shellWord } from "../terminal/text.ts";
import { withCleanup } from "../with-cleanup.ts";
import { coreFile } from "./core-files.ts";
import { parseExactJson } from "./exact-json.ts";

const noteOf = ({ action, agent_id: agent, tool_id: tool, details }: AuditEntryInput): string | undefined => {
  const about = oneLine(agent ?? "an unknown agent", 300);
  const why = oneLine(String(details?.reason ?? details?.code ?? details?.limit ?? "no reason given"), 500);
  switch (action) {
    case "tool.rejected":
      return `the tool ${oneLine(tool || "without an id", 300)} of ${about} is rejected: ${why}`;
    case "agent.refused":
      return `a connection is refused (${about}): ${why}`;
    case "agent.manifest_drift":
      return `the manifest of ${about} has changed since it was started`;
    default:
      return undefined;
  }
};

/** The audit log behind `sink`, if there is one; refusals are also passed to `note`, each as one safe line. */
const createCoreAudit = (sink: AuditSink | undefined, note: (line: string) => void): AuditSink => {
  const kept = sink ?? createMemoryAuditSink({ limits: { maxEntries: 1 } });
  return {
    record(entry) {
      kept.record(entry);
      const line = noteOf(entry);
      if (line !== undefined) note(line);
    },
    flush: () => kept.flush(),
    close: () => kept.close(),
    addSecret: (value) => kept.addSecret(value),
    removeSecret: (value) => kept.removeSecret(value),
  };
};

export interface ToolCallRequest {
  readonly toolId: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  /** The grants' file that the user named. */
  readonly grants: string | undefined;
  readonly directiveId: string | undefined;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly out: Terminal;
  readonly err: Terminal;
}

const maxWholeOutputBytes = 64 * 1024 * 1024;
const refusals = ["tool.forbidden", "tool.directive_required"];
const absences = ["agent.unavailable", "agent.lost", "core.closed"];

const exitCodeOf = (result: CallResult): ExitCode => {
  if (result.status === "succeeded") return ExitCode.done;
  const { code } = result.error;
  if (refusals.includes(code)) return ExitCode.refused;
  return absences.includes(code) ? ExitCode.unavailable : ExitCode.failed;
};

const showChunk = ({ channel, data }: StreamChunk): string => {
  if ("json" in data) return `${safeJson(data.json)}\n`;
  const text = displayText(data.text, { multiline: true });
  return (channel === "status" || channel === "log") && !text.endsWith("\n") ? `${text}\n` : text;
};

const withWholeOutput = async (result: CallResult): Promise<CallResult> => {
  if (result.status !== "succeeded") return result;
  const { data } = OutputReferenceSchema.safeParse(result.output);
  if (data === undefined || data.output_file.size_bytes > maxWholeOutputBytes) return result;
  try {
    const text = await readOwnFile(data.output_file.path, { maxBytes: maxWholeOutputBytes });
    return { ...result, output: JSON.parse(text.toString("utf8")) };
  } catch {
    return result;
  }
};

const placeOf = ({ error }: Exclude<CallResult, { status: "succeeded" }>): string => {
  const { path } = error.details ?? {};
  return typeof path === "string" && path !== "" ? ` (at ${oneLine(path, 300)})` : "";
};

/** The rest of the command that grants what was missing. */
const fileOf = ({ error }: Exclude<CallResult, { status: "succeeded" }>, file: string | undefined): string =>
  file !== undefined && error.details?.missing !== undefined
    ? ` --file ${oneLine(shellWord(file), 1000)}`
    : "";

/**
 * Calls a tool once and shows what it says: the output on standard output, what it streams on standard error; with
 * `json`, everything on standard output as JSON lines. Returns the exit code.
 */
const callTool = async (core: RunningCore, request: ToolCallRequest): Promise<ExitCode> => {
  const { toolId, input, timeoutMs, directiveId, signal, json, out, err } = request;
  const caller = { type: "human", id: "terminal" } as const;
  const call = core.call(toolId, input, {
    timeoutMs,
    signal,
    caller,
    ...(directiveId !== undefined && { directiveId }),
  });
  let isLineOpen = false;
  for await (const chunk of call.stream) {
    if (json) {
      out.write(`${safeJson({ type: "stream", ...chunk })}\n`);
      await out.ready();
      continue;
    }
    const text = showChunk(chunk);
    err.write(text);
    isLineOpen = !text.endsWith("\n");
    await err.ready();
  }
  if (isLineOpen) err.write("\n");
  const result = await withWholeOutput(await call.result);
  if (json) out.write(`${safeJson({ type: "result", call_id: call.callId, ...result })}\n`);
  else if (result.status === "succeeded") out.write(`${safeJson(result.output)}\n`);
  else
    err.write(
      `harness core: ${result.error.code}: ${oneLine(result.error.message, 1000)}${placeOf(result)}${fileOf(result, request.grants)}\n`,
    );
  return exitCodeOf(result);
};

export interface CoreCommandOptions {
  readonly agent: readonly string[];
  readonly list?: true;
  readonly call?: string;
  readonly input?: string;
  readonly timeout: number;
  readonly audit?: string | false;
  readonly grants?: string;
  readonly directives?: string;
  readonly directive?: string;
  /** An endpoint, `unix:PATH`, on which other processes use the core. @default none */
  readonly serve?: string;
  readonly json?: true;
}

/** `harness core`: runs agents under a core, and lists their tools, calls one, or stays up. Returns the exit code. */
export const core = (
  options: CoreCommandOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const input = readCallInput(options);
    const out = createTerminal();
    const err = createTerminal(process.stderr);
    const stop = new AbortController();
    const { signal } = stop;
    const log = await openCoreAuditLog(options.audit);
    defer(() => log?.close());
    defer(onStopSignals(() => stop.abort()));
    const audit = createCoreAudit(log, (line) => err.write(`harness core: ${line}\n`));
    const running = await start({ version, audit, err, options });
    defer(() => running.close());
    if (!options.list && options.call === undefined) {
      if (options.serve !== undefined) {
        const { openCoreSocket } = await import("./core-socket.ts");
        const onError = (error: unknown) => logFailure("harness core", error);
        const socket = await openCoreSocket(options.serve, { core: running, version, onError });
        defer(() => socket.close());
      }
      return stay(running, options, { out, signal });
    }
    return once(running, options, { input, out, err, signal });
  });

const readCallInput = ({ call, directive, input, list, serve, timeout }: CoreCommandOptions): unknown => {
  if (timeout < 1 || timeout > 3600) throw usageError("--timeout takes 1 to 3600 seconds");
  if (call === undefined && directive !== undefined) throw usageError("--directive belongs to --call");
  if (serve !== undefined && (list || call !== undefined)) {
    throw usageError("--serve does not go together with --list and --call");
  }
  if (call !== undefined && list) throw usageError("--list and --call do not go together");
  if (input === undefined) return {};
  if (call === undefined) throw usageError("--input belongs to --call");
  try {
    return parseExactJson("--input", input);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw usageError("--input is not JSON", `For example: --input '{"name":"Ada"}'`);
  }
};

interface Start {
  readonly version: string;
  readonly audit: AuditSink;
  readonly err: Terminal;
  readonly options: CoreCommandOptions;
}

const start = ({ version, audit, err, options }: Start): Promise<RunningCore> =>
  startCore({
    audit,
    coreVersion: version,
    grants: createFileGrants({ path: coreFile("grants", options.grants) }),
    directives: createFileDirectives({ path: coreFile("directives", options.directives) }),
    ...(isDebugging() && {
      onOutput: ({ agentId, line }) => err.write(`${oneLine(agentId)}: ${oneLine(line, 1000)}\n`),
    }),
  });

const launchAll = async (running: RunningCore, directories: readonly string[]): Promise<void> => {
  try {
    await Promise.all(directories.map((directory) => running.launch(directory)));
  } catch (cause) {
    if (!HarnessError.isInstance(cause)) throw cause;
    throw new CliError(cause.code, cause.message, {
      cause,
      exitCode: ExitCode.unavailable,
      ...(cause.code === "agent_start_failed" && {
        hint: "HARNESS_DEBUG=1 shows what agents write to their standard output and error.",
      }),
    });
  }
};

interface Once {
  readonly input: unknown;
  readonly out: Terminal;
  readonly err: Terminal;
  readonly signal: AbortSignal;
}

const once = async (running: RunningCore, options: CoreCommandOptions, given: Once): Promise<ExitCode> => {
  const { input, out, err, signal } = given;
  const aborted = new Promise<"aborted">((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
  const launched = launchAll(running, options.agent);
  if ((await Promise.race([launched, aborted])) === "aborted") {
    launched.catch(() => {});
    return ExitCode.failed;
  }
  if (options.call !== undefined) {
    const json = options.json === true;
    const timeoutMs = options.timeout * 1000;
    return callTool(running, {
      toolId: options.call,
      input,
      timeoutMs,
      grants: options.grants,
      directiveId: options.directive,
      json,
      signal,
      out,
      err,
    });
  }
  const tools = [...running.tools()].sort((a, b) => (a.tool_id < b.tool_id ? -1 : 1));
  if (options.json) out.write(`${safeJson({ tools })}\n`);
  else {
    for (const tool of tools) {
      out.write(`${oneLine(tool.tool_id, 300)}  ${out.style.dim(oneLine(tool.description, 200))}\n`);
    }
  }
  return ExitCode.done;
};

interface Stay {
  readonly out: Terminal;
  readonly signal: AbortSignal;
}

const stay = async (running: RunningCore, options: CoreCommandOptions, given: Stay): Promise<ExitCode> => {
  const { out, signal } = given;
  const directory = dirname(running.socketPath);
  if (options.json) out.write(`${safeJson({ type: "core", directory, socket: running.socketPath })}\n`);
  else if (options.serve !== undefined) {
    out.write(
      `Other processes use the core with --agents ${oneLine(options.serve, 1000)}; Ctrl-C ends it.\n`,
    );
  } else out.write(`The core listens in ${oneLine(directory, 1000)}; Ctrl-C ends it and its agents.\n`);
  const failures: unknown[] = [];
  for (const agent of options.agent) {
    running.launch(agent).catch((error: unknown) => failures.push(error));
  }
  let shown = "";
  for await (const agent of running.health({ signal })) {
    const line = options.json ? safeJson({ type: "health", ...agent }) : healthLine(agent);
    if (line === shown) continue;
    shown = line;
    out.write(`${line}\n`);
    await out.ready();
  }
  return ExitCode.done;
};

const healthLine = (agent: LaunchedAgent): string => {
  const { agentId, state, status, reason, restarts, toolIds, pid } = agent;
  const facts = [
    ...(state === "ready" && status !== "ok" ? [status] : []),
    ...(state === "ready" ? [`${toolIds.length} tools`] : []),
    ...(pid === undefined ? [] : [`process ${pid}`]),
    ...(restarts === 0 ? [] : [`restarts: ${restarts}`]),
    ...(reason === undefined ? [] : [oneLine(reason, 500)]),
  ];
  return `${oneLine(agentId)}: ${state}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
};
