import { dirname } from "node:path";
import { type AuditEntryInput, type AuditSink, createMemoryAuditSink } from "@harnesskit/audit";
import { createFileGrants, type LaunchedAgent, type RunningCore, startCore } from "@harnesskit/core-runtime";
import { HarnessError } from "@harnesskit/wire";
import { roundedNumber } from "@harnesskit/wire/json";
import { openCoreAuditLog } from "../audit/audit-logs.ts";
import { ExitCode, isDebugging, logFailure, unavailableError, unusable, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { safeJson } from "../terminal/text.ts";
import { withCleanup } from "../with-cleanup.ts";
import { resolveWorkspace } from "../workspace-directory.ts";
import { callAndShow } from "./call-tool.ts";
import { grantsFile } from "./core-files.ts";

interface CoreCommandOptions {
  readonly agent: readonly string[];
  readonly list?: true;
  readonly call?: string;
  readonly input?: string;
  /** The directory that the call is for. @default none */
  readonly project?: string;
  readonly timeout: number;
  readonly audit?: string | false;
  readonly grants?: string;
  /** Issues a directive for exactly this call. */
  readonly directive?: true;
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
    const err = createTerminal(io().stderr);
    const stop = new AbortController();
    const { signal } = stop;
    const log = await openCoreAuditLog(options.audit);
    defer(() => log?.close());
    defer(onStopSignals(() => stop.abort()));
    const audit = createCoreAudit(log, (line) => err.say(`harness core: ${line}`));
    const running = await start(version, audit, err, options);
    defer(() => running.close());
    if (!options.list && options.call === undefined) {
      if (options.serve !== undefined) {
        const { openCoreSocket } = await import("./core-socket.ts");
        const onError = (error: unknown) => logFailure("harness core", error);
        defer(await openCoreSocket(options.serve, running, version, onError));
      }
      return stay(running, options, out, signal);
    }
    return once(running, options, input, { out, err, signal });
  });

/**
 * Parses the JSON of an option. Throws a usage error for a number that would be read as another one: what is approved or
 * sent would not be what was written. Throws a `SyntaxError` for what is not JSON.
 */
const parseExactJson = (option: string, text: string): unknown => {
  const value: unknown = JSON.parse(text);
  const rounded = roundedNumber(text);
  if (rounded === undefined) return value;
  throw usageError(
    `${option}: ${rounded} is too large for a number`,
    "Write it as a string, if the tool takes one",
  );
};

const readCallInput = (options: CoreCommandOptions): unknown => {
  const { call, directive, input, list, project, serve, timeout } = options;
  if (timeout < 1 || timeout > 3600) throw usageError("--timeout takes 1 to 3600 seconds");
  if (call === undefined && directive !== undefined) throw usageError("--directive belongs to --call");
  if (call === undefined && project !== undefined) throw usageError("--project belongs to --call");
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

const start = (
  version: string,
  audit: AuditSink,
  err: Terminal,
  options: CoreCommandOptions,
): Promise<RunningCore> =>
  startCore({
    audit,
    coreVersion: version,
    operatorCommand: "harness core",
    environment: io().env,
    onError: ({ code, message }, { agentId }) => err.say(`harness core: ${agentId}: ${code}: ${message}`),
    grants: createFileGrants({ path: grantsFile(options.grants) }),
    onOutput: isDebugging() ? ({ agentId, line }) => err.say(`${agentId}: ${line}`) : undefined,
  });

const launchAll = async (running: RunningCore, directories: readonly string[]): Promise<void> => {
  try {
    await Promise.all(directories.map((directory) => running.launch(directory)));
  } catch (cause) {
    if (!HarnessError.isInstance(cause)) throw cause;
    if (cause.code.startsWith("manifest_")) unusable("--agent")(cause);
    throw unavailableError(cause.code, cause.message, {
      cause,
      hint:
        cause.code === "agent_start_failed"
          ? "HARNESS_DEBUG=1 shows what agents write to their standard output and error."
          : undefined,
    });
  }
};

const once = async (
  running: RunningCore,
  options: CoreCommandOptions,
  input: unknown,
  { out, err, signal }: { readonly out: Terminal; readonly err: Terminal; readonly signal: AbortSignal },
): Promise<ExitCode> => {
  const aborted = new Promise<"aborted">((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
  const launched = launchAll(running, options.agent.map(fromHere));
  if ((await Promise.race([launched, aborted])) === "aborted") {
    launched.catch(() => {});
    return ExitCode.failed;
  }
  if (options.call !== undefined) {
    return callAndShow(running, {
      toolId: options.call,
      input,
      timeoutMs: options.timeout * 1000,
      projectRoot: options.project === undefined ? undefined : await resolveWorkspace(options.project),
      grants: options.grants,
      issuesDirective: options.directive === true,
      json: options.json === true,
      signal,
      out,
      err,
    });
  }
  const tools = [...running.tools()].sort((a, b) => (a.tool_id < b.tool_id ? -1 : 1));
  if (options.json) out.json({ tools });
  else
    for (const { tool_id, description } of tools)
      out.say(`${tool_id}  ${out.style.dim(description)}`, "    ");
  return ExitCode.done;
};

const stay = async (
  running: RunningCore,
  options: CoreCommandOptions,
  out: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> => {
  const directory = dirname(running.socketPath);
  if (options.json) out.json({ type: "core", directory, socket: running.socketPath });
  else if (options.serve !== undefined) {
    out.say(`Other processes use the core with --agents ${options.serve}; Ctrl-C ends it.`);
  } else out.say(`The core listens in ${directory}; Ctrl-C ends it and its agents.`);
  const failures: unknown[] = [];
  for (const agent of options.agent) {
    running.launch(fromHere(agent)).catch((error: unknown) => failures.push(error));
  }
  let shown = "";
  for await (const agent of running.health({ signal })) {
    const line = options.json ? safeJson({ type: "health", ...agent }) : healthLine(agent);
    if (line === shown) continue;
    shown = line;
    out.say(line);
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
    ...(reason === undefined ? [] : [reason]),
  ];
  return `${agentId}: ${state}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
};

const noteOf = ({ action, agent_id: agent, tool_id: tool, details }: AuditEntryInput): string | undefined => {
  const about = agent ?? "an unknown agent";
  const why = String(details?.reason ?? details?.code ?? details?.limit ?? "no reason given");
  switch (action) {
    case "tool.rejected":
      return `the tool ${tool || "without an id"} of ${about} is rejected: ${why}`;
    case "agent.refused":
      return `a connection is refused (${about}): ${why}`;
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
    get isFull() {
      return kept.isFull;
    },
    flush: () => kept.flush(),
    close: () => kept.close(),
    addSecret: (value) => kept.addSecret(value),
    removeSecret: (value) => kept.removeSecret(value),
  };
};
