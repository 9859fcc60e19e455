import type { WatchOptions } from "@harnesskit/wire";
import type { Core } from "./core.ts";
import { coreLimits, launchTimes, resolveTimes } from "./core-limits.ts";
import { baseDirectories, makeCoreDirectory } from "./launch/core-directory.ts";
import type { StartCoreOptions } from "./launch/launch-options.ts";
import type { LaunchedAgent } from "./launch/launched-agent.ts";
import { StartedCore } from "./launch/started-core.ts";
import { sweepCores } from "./launch/sweep-cores.ts";
import { checkStartCoreOptions } from "./option-names.ts";

/** A core that listens, and runs agents. */
export interface RunningCore extends Core {
  /** The Unix socket to which its agents connect. */
  readonly socketPath: string;
  /**
   * Starts the agent of a directory by its `opensentience.agent.json`, and resolves when it has registered its tools.
   * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid`, with `agent_exists`
   * when an agent with its id runs, with `agent_start_failed` (see `ready()`), `buffer_full` (`maxAgents`)
   * or `core_stopped`.
   */
  launch(directory: string): Promise<LaunchedAgent>;
  /**
   * Ends an agent: refuses further calls, waits `drainTimeoutMs` for those that it has, sends goodbye, SIGTERM after
   * `goodbyeGraceMs`, and kills what is left after `stopGraceMs`. Settles when nothing of it is left. Rejects with
   * `agent_unknown`.
   */
  stop(agentId: string): Promise<void>;
  /**
   * Ends an agent like `stop()` if it runs, and starts it by what its manifest says now; also one that was
   * given up. Resolves and rejects like `launch()`; when the manifest cannot be used, the agent runs on.
   */
  restart(agentId: string): Promise<LaunchedAgent>;
  /**
   * Resolves when each agent has registered its tools. Rejects with an `AgentsNotReadyError` (`agents_not_ready`) as
   * soon as each did or failed: `errors` has an `AgentStartError` (`agent_start_failed`) for each that failed, with the
   * reason, its exit and the last lines of its standard error. An agent that waits for its next start by the policy is
   * judged by that start. With `agentId` only that agent is waited for; `agent_unknown` if it was not launched.
   */
  ready(agentId?: string): Promise<void>;
  /** The state of each agent that was launched, stopped ones included. */
  launched(): readonly LaunchedAgent[];
  /** The state of each launched agent, and each change; of an agent, a slow reader gets the newest state only. */
  health(options?: WatchOptions): AsyncIterableIterator<LaunchedAgent>;
  /**
   * Ends every call with `core.closed`, sends goodbye, ends all agents like `stop()` without waiting for
   * calls, and removes the socket. Settles when nothing is left. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Starts a core: listens on a Unix socket in a fresh private directory, and starts the agents of the given directories.
 * It resolves when all manifests were read and the processes are being started; `ready()` resolves when
 * they serve.
 *
 * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid` for the first manifest
 * that cannot be used, `agent_exists` for two of one agent, `invalid_argument`, or `transport_failed` when the socket
 * cannot be made. Then nothing is left running.
 *
 * It handles neither signals nor the end of this process: call `close()` there. Where that does not
 * happen, with `process.exit` or SIGKILL, each agent's guard kills the agent and what it started, and the next core
 * that starts removes the directory that was left.
 */
export const startCore = async (options: StartCoreOptions = {}): Promise<RunningCore> => {
  checkStartCoreOptions(options);
  coreLimits.resolve(options.limits);
  resolveTimes(launchTimes, options);
  const bases = baseDirectories(process.env, options.socketDirectory);
  await sweepCores(bases);
  const core = new StartedCore(options, await makeCoreDirectory(bases));
  await core.start(options.agents ?? []);
  return core;
};
