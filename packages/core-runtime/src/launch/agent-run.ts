import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { Clock } from "@harnesskit/wire";
import type { Admission, Launch, LaunchObserver } from "../launch-port.ts";
import { type AgentEnd, type AgentProcess, type OutputStream, startAgentProcess } from "./agent-process.ts";
import type { CoreDirectory } from "./core-directory.ts";
import { launchEnvironment } from "./launch-environment.ts";
import type { ReadManifest } from "./read-manifest.ts";
import { resolveCommand } from "./resolve-command.ts";

/** One line that an agent wrote. */
export interface AgentOutput {
  readonly agentId: string;
  readonly launchId: string;
  readonly stream: OutputStream;
  /** Without its end; untrusted. A line longer than `maxLineLength` comes in parts. */
  readonly line: string;
}

/** What all runs of a core have in common. */
export interface RunHost {
  admit(launch: Launch, observer: LaunchObserver): Admission;
  readonly directory: CoreDirectory;
  /** What agents are told of the core's options. */
  readonly heartbeatIntervalMs: number;
  readonly maxFrameBytes: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly onOutput: ((output: AgentOutput) => void) | undefined;
  readonly maxLineLength: number;
  readonly maxStderrBytes: number;
  readonly guardTimeoutMs: number;
  readonly killTimeoutMs: number;
  readonly outputTimeoutMs: number;
}

/** A process that was started, with its right to connect. */
export interface AgentRun {
  readonly launchId: string;
  readonly admission: Admission;
  readonly process: AgentProcess;
  /** Settles when nothing of it is left, and its note is removed. */
  readonly gone: Promise<AgentEnd>;
}

const startProcess = async (
  host: RunHost,
  read: ReadManifest,
  launchId: string,
  admission: Admission,
): Promise<AgentProcess> => {
  const { directory, manifest } = read;
  const [command = "", ...args] = manifest.command;
  const environment = launchEnvironment({
    source: host.environment,
    names: manifest.env ?? [],
    socketPath: host.directory.socketPath,
    token: admission.token,
    launchId,
    heartbeatIntervalMs: host.heartbeatIntervalMs,
    maxFrameBytes: host.maxFrameBytes,
  });
  const program = await resolveCommand({ command, directory, path: environment.PATH });
  await host.directory.noteLaunch(launchId);
  const { onOutput } = host;
  return startAgentProcess({
    ...host,
    launchId,
    program,
    args,
    directory,
    environment,
    onLine: onOutput && ((stream, line) => onOutput({ agentId: manifest.id, launchId, stream, line })),
  });
};

/** Admits a launch and starts its process. Rejects with a `SpawnError`, or as `admit` does; then nothing is left. */
export const startRun = async (
  host: RunHost,
  read: ReadManifest,
  launchId: string,
  observer: LaunchObserver,
): Promise<AgentRun> => {
  const { manifest, hash } = read;
  const admission = host.admit({ launchId, agentId: manifest.id, manifest, manifestHash: hash }, observer);
  try {
    const process = await startProcess(host, read, launchId, admission);
    const gone = process.gone.then(async (end) => {
      if (end.complete) await host.directory.forgetLaunch(launchId);
      return end;
    });
    return { launchId, admission, process, gone };
  } catch (cause) {
    admission.revoke({
      code: RuntimeErrorCode.AgentUnavailable,
      message: "the agent's process could not be started",
    });
    await host.directory.forgetLaunch(launchId);
    throw cause;
  }
};
