import { systemErrorCode } from "@harnesskit/node-kit";
import { agentEnvironment, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { displayText, HarnessError } from "@harnesskit/wire";
import type { Admission, LaunchObserver } from "../admissions.ts";
import { AuditBudget } from "../audit-budget.ts";
import type { CoreContext } from "../core-context.ts";
import { type AgentEnd, type AgentProcess, startAgentProcess } from "./agent-process.ts";
import type { LaunchSite } from "./agent-supervisor.ts";
import { type AgentReason, SpawnError } from "./errors.ts";
import type { ReadManifest } from "./read-manifest.ts";

/** What each agent inherits from the core, beside every name that begins with `LC_`. No name here carries a secret. */
const inheritedNames = "PATH HOME LANG LANGUAGE LOGNAME SHELL TERM TMPDIR TZ USER".split(" ");

/**
 * An agent's whole environment (section 5.2): of `source` a short list of names and those of its manifest, and what the core
 * says of the launch.
 */
const launchEnvironment = (
  source: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  launch: Readonly<Record<keyof typeof agentEnvironment, string | number>>,
): Record<string, string> => {
  const taken = new Set([...inheritedNames, ...names]);
  const inherited = Object.entries(source).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (taken.has(entry[0]) || entry[0].startsWith("LC_")),
  );
  const fields = Object.keys(agentEnvironment) as (keyof typeof agentEnvironment)[];
  const own = fields.map((field) => [agentEnvironment[field], String(launch[field])] as const);
  return Object.fromEntries([...inherited, ...own]);
};

/** A process that was started, with its right to connect. */
export interface AgentRun {
  readonly launchId: string;
  readonly admission: Admission;
  readonly process: AgentProcess;
  /** Settles when nothing of it is left, and its note is removed. */
  readonly gone: Promise<AgentEnd>;
}

/** Receives what the agent writes; reports what a tool threw, where the agent's author does not take it: so `agent-sdk` writes it. */
const outputReader = (context: CoreContext, agentId: string, launchId: string) => {
  const { onOutput } = context.options;
  const failurePrefix = `agent ${agentId}: tool_failed: `;
  const failures = new AuditBudget(context);
  return (stream: "stdout" | "stderr", line: string): void => {
    if (stream === "stderr" && line.startsWith(failurePrefix) && failures.take()) {
      const text = context.redactor.text(line.slice(failurePrefix.length));
      context.report(new HarnessError("tool_failed", displayText(text, { maxLength: 1000 })), agentId);
    }
    if (onOutput) context.notify(agentId, () => onOutput({ agentId, launchId, stream, line }));
  };
};

/** Admits a launch and starts its process. Rejects with a `SpawnError`, or as `admit` does; then nothing is left. */
export const startRun = async (
  { sessions, directory: own }: LaunchSite,
  { directory, manifest }: ReadManifest,
  launchId: string,
  observer: LaunchObserver,
): Promise<AgentRun> => {
  const { context } = sessions;
  const { clock, limits, times, redactor, options } = context;
  const { socketPath: socket } = own;
  const admission = sessions.admit({ launchId, agentId: manifest.id, manifest }, observer);
  const { token } = admission;
  const { heartbeatIntervalMs } = times;
  const { maxFrameBytes } = limits;
  try {
    await own.noteLaunch(launchId);
    const launch = { socket, token, launchId, heartbeatIntervalMs, maxFrameBytes };
    const process = await startAgentProcess({
      launchId,
      command: manifest.command,
      directory,
      environment: launchEnvironment(
        options.environment ?? globalThis.process.env,
        manifest.env ?? [],
        launch,
      ),
      clock,
      onLine: outputReader(context, manifest.id, launchId),
      limits,
    });
    const gone = process.gone.then(async (end) => {
      if (end.complete) await own.forgetLaunch(launchId);
      return { ...end, stderrTail: redactor.text(end.stderrTail) };
    });
    return { launchId, admission, process, gone };
  } catch (cause) {
    const message = "the agent's process could not be started";
    admission.revoke({ code: RuntimeErrorCode.AgentUnavailable, message });
    await own.forgetLaunch(launchId);
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
