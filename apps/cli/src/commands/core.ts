import { dirname } from "node:path";
import type { AuditSink } from "@harnesskit/audit";
import { type LaunchedAgent, type RunningCore, startCore } from "@harnesskit/core-runtime";
import { HarnessError } from "@harnesskit/wire";
import { CliError, usageError } from "../cli-error.ts";
import { callTool } from "../core/call-tool.ts";
import { createCoreAudit } from "../core/core-audit.ts";
import { isDebugging } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { openNamedAuditLog } from "../serve/audit-log.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";

export interface CoreCommandOptions {
  readonly agent: readonly string[];
  readonly list?: true;
  readonly call?: string;
  readonly input?: string;
  readonly timeout: number;
  readonly audit?: string;
  readonly json?: true;
}

/** `harness core`: runs agents under a core, and lists their tools, calls one, or stays up. Returns the exit code. */
export const core = async (
  options: CoreCommandOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const input = parseInput(options);
  const out = createTerminal();
  const err = createTerminal(process.stderr);
  const stop = new AbortController();
  const forget = onStopSignals(() => stop.abort());
  const named = options.audit === undefined ? undefined : await openNamedAuditLog(options.audit);
  try {
    const audit = createCoreAudit(named, (line) => err.write(`harness core: ${line}\n`));
    const running = await start(version, audit, err);
    try {
      if (options.list || options.call !== undefined) {
        return await once(running, options, { input, out, err, signal: stop.signal });
      }
      return await stay(running, options, { out, signal: stop.signal });
    } finally {
      await running.close();
    }
  } finally {
    forget();
    await named?.close();
  }
};

const parseInput = ({ call, input, list, timeout }: CoreCommandOptions): unknown => {
  if (timeout < 1 || timeout > 3600) throw usageError("--timeout takes 1 to 3600 seconds");
  if (call !== undefined && list) throw usageError("--list and --call do not go together");
  if (input === undefined) return {};
  if (call === undefined) throw usageError("--input belongs to --call");
  try {
    return JSON.parse(input) as unknown;
  } catch {
    throw usageError("--input is no JSON", `For example: --input '{"name":"Ada"}'`);
  }
};

const start = (version: string, audit: AuditSink, err: Terminal): Promise<RunningCore> =>
  startCore({
    audit,
    coreVersion: version,
    ...(isDebugging() && {
      onOutput: ({ agentId, line }) => err.write(`${oneLine(agentId)}: ${oneLine(line, 1000)}\n`),
    }),
  });

/** Starts all agents; the first that does not come to serve its tools ends the command. */
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
    return callTool(running, { toolId: options.call, input, timeoutMs, json, signal, out, err });
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
  else out.write(`The core listens in ${oneLine(directory, 1000)}; Ctrl-C ends it and its agents.\n`);
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
