import { systemErrorCode } from "@harnesskit/node-kit";
import { agentEnvironment, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { displayText, HarnessError } from "@harnesskit/wire";
import type { Admission, LaunchObserver } from "../admissions.ts";
import { AuditBudget } from "../audit-trail.ts";
import { type AgentEnd, type AgentProcess, startAgentProcess } from "./agent-process.ts";
import { type AgentReason, SpawnError } from "./errors.ts";
import type { LaunchContext } from "./launched-agent.ts";
import type { ReadManifest } from "./read-manifest.ts";

/** What each agent inherits from the core, beside every name that begins with `LC_`. No name here carries a secret. */
const inheritedNames: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "LANGUAGE",
  "LOGNAME",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
];

export interface LaunchEnvironmentOptions {
  /** The core's own environment. */
  readonly source: Readonly<Record<string, string | undefined>>;
  /** `env` of the manifest: further names that the agent inherits. */
  readonly names: readonly string[];
  readonly socketPath: string;
  readonly token: string;
  readonly launchId: string;
  readonly heartbeatIntervalMs: number;
  readonly maxFrameBytes: number;
}

/**
 * An agent's whole environment (section 5.2): a short list of names, those of its manifest, where its core is, and the
 * core's options.
 */
export const launchEnvironment = (options: LaunchEnvironmentOptions): Record<string, string> => {
  const names = new Set([...inheritedNames, ...options.names]);
  const inherited = Object.entries(options.source).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (names.has(entry[0]) || entry[0].startsWith("LC_")),
  );
  return {
    ...Object.fromEntries(inherited),
    [agentEnvironment.socket]: options.socketPath,
    [agentEnvironment.token]: options.token,
    [agentEnvironment.launchId]: options.launchId,
    [agentEnvironment.heartbeatIntervalMs]: String(options.heartbeatIntervalMs),
    [agentEnvironment.maxFrameBytes]: String(options.maxFrameBytes),
  };
};

/** A process that was started, with its right to connect. */
export interface AgentRun {
  readonly launchId: string;
  readonly admission: Admission;
  readonly process: AgentProcess;
  /** Settles when nothing of it is left, and its note is removed. */
  readonly gone: Promise<AgentEnd>;
}

const startProcess = async (
  { core, options, directory: coreDirectory, times }: LaunchContext,
  { directory, manifest }: ReadManifest,
  launchId: string,
  token: string,
): Promise<AgentProcess> => {
  const { clock, limits, redactor, notify, report } = core.context;
  const environment = launchEnvironment({
    source: options.environment ?? process.env,
    names: manifest.env ?? [],
    socketPath: coreDirectory.socketPath,
    token,
    launchId,
    heartbeatIntervalMs: core.context.times.heartbeatIntervalMs,
    maxFrameBytes: limits.maxFrameBytes,
  });
  await coreDirectory.noteLaunch(launchId);
  const { onOutput } = options;
  const { id: agentId } = manifest;
  // So `agent-sdk` writes what a tool threw, where the agent's author does not take it.
  const failurePrefix = `agent ${agentId}: tool_failed: `;
  const failures = new AuditBudget(clock, limits.maxAuditEventsPerMinute);
  return startAgentProcess({
    launchId,
    command: manifest.command,
    directory,
    environment,
    clock,
    onLine: (stream, line) => {
      if (stream === "stderr" && line.startsWith(failurePrefix) && failures.take()) {
        const message = displayText(redactor.text(line.slice(failurePrefix.length)), { maxLength: 1000 });
        report(new HarnessError("tool_failed", message), agentId);
      }
      if (onOutput) notify(agentId, () => onOutput({ agentId, launchId, stream, line }));
    },
    limits,
    times,
  });
};

/** Admits a launch and starts its process. Rejects with a `SpawnError`, or as `admit` does; then nothing is left. */
export const startRun = async (
  context: LaunchContext,
  read: ReadManifest,
  launchId: string,
  observer: LaunchObserver,
): Promise<AgentRun> => {
  const { manifest } = read;
  const { core, directory } = context;
  const admission = core.admit({ launchId, agentId: manifest.id, manifest }, observer);
  try {
    const process = await startProcess(context, read, launchId, admission.token);
    const gone = process.gone.then(async (end) => {
      if (end.complete) await directory.forgetLaunch(launchId);
      return { ...end, stderrTail: core.context.redactor.text(end.stderrTail) };
    });
    return { launchId, admission, process, gone };
  } catch (cause) {
    const message = "the agent's process could not be started";
    admission.revoke({ code: RuntimeErrorCode.AgentUnavailable, message });
    await directory.forgetLaunch(launchId);
    throw cause;
  }
};

/** Why no process was made. */
export const spawnReason = (cause: unknown): AgentReason => {
  if (cause instanceof SpawnError) return { code: cause.code, message: cause.message };
  const why = HarnessError.isInstance(cause) ? cause.message : (systemErrorCode(cause) ?? "unknown");
  return { code: "start_failed", message: `its process could not be started (${why})` };
};

/** A better reason than the exit of the process, if there is one. */
export const endReason = ({ guardLost, notExecuted, exit }: AgentEnd): AgentReason | undefined => {
  if (guardLost) return { code: "guard_lost", message: "its guard was killed, so that it was killed too" };
  if (notExecuted === undefined) return undefined;
  const why = displayText(notExecuted, { maxLength: 200 });
  return exit.code === 126
    ? {
        code: "command_not_executable",
        message: `its command may not be run (${why}): make the file executable or name another in the manifest`,
      }
    : {
        code: "command_not_found",
        message: `its command was not found (${why}): install it, put it on the PATH or name its path in the manifest`,
      };
};

/** The line of its standard error that most likely says why it ended, as `LaunchedAgent.errorLine`. */
export const errorLine = (end: AgentEnd | undefined): string | undefined => {
  if (end === undefined || end.exit.code === 0) return undefined;
  const lines = end.stderrTail.split("\n").filter((line) => line.trim() !== "");
  // Node writes its version after the stack.
  const line = lines.findLast((text) => /^[\w.]*(?:Error|Exception)\b/.test(text)) ?? lines.at(-1);
  return line && displayText(line.trim(), { maxLength: 300 });
};
