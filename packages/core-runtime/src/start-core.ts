import { createUnixListener } from "@harnesskit/transport-uds";
import { type Listener, systemClock } from "@harnesskit/wire";
import { type Core, createGatedCore } from "./core.ts";
import { checkWholeNumber, resolveLimits } from "./core-limits.ts";
import { type CoreOptions, defaultHeartbeatIntervalMs } from "./core-options.ts";
import { AgentDesk } from "./launch/agent-desk.ts";
import { baseDirectories, type CoreDirectory, makeCoreDirectory } from "./launch/core-directory.ts";
import type { LaunchedAgent } from "./launch/launched-agent.ts";
import { LaunchedAgents } from "./launch/launched-agents.ts";
import { type LaunchOptions, launchNumbers, supervisionSettings } from "./launch/start-options.ts";
import { sweepCores } from "./launch/sweep-cores.ts";
import type { WatchOptions } from "./watch.ts";

/** Options of {@link startCore}. */
export interface StartCoreOptions extends CoreOptions, LaunchOptions {}

/** A core that listens, and runs agents. */
export interface RunningCore extends Core {
  /** The Unix socket to which its agents connect. */
  readonly socketPath: string;
  /**
   * Starts the agent of a directory by its `opensentience.agent.json`, and resolves when it has registered its tools.
   * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid`, with `agent_exists`
   * when an agent with its id runs, with `agent_start_failed` (see {@link RunningCore.ready}), `buffer_full` (`maxAgents`)
   * or `core_stopped`.
   */
  launch(directory: string): Promise<LaunchedAgent>;
  /**
   * Ends an agent: lets no further call in, waits `drainTimeoutMs` for those that it has, says goodbye, sends SIGTERM after
   * `goodbyeGraceMs`, and kills what is left after `stopGraceMs`. Settles when nothing of it is left. Rejects with `agent_unknown`.
   */
  stop(agentId: string): Promise<void>;
  /**
   * Ends an agent like {@link RunningCore.stop} if it runs, and starts it by what its manifest says now; also one that was
   * given up. Resolves and rejects like {@link RunningCore.launch}; when the manifest cannot be used, the agent runs on.
   */
  restart(agentId: string): Promise<LaunchedAgent>;
  /**
   * Resolves when each agent has registered its tools. Rejects with an `AgentsNotReadyError` (`agents_not_ready`) as
   * soon as each did or failed: `errors` has an `AgentStartError` (`agent_start_failed`) for each that failed, with the
   * reason, its exit and the last lines of its standard error. An agent that waits for its next start by the policy is
   * judged by that start.
   */
  ready(): Promise<void>;
  /** How each agent is that was launched, those at rest included. */
  launched(): readonly LaunchedAgent[];
  /** How each launched agent is now, and each change; of an agent, a slow reader gets the newest state only. */
  health(options?: WatchOptions): AsyncIterableIterator<LaunchedAgent>;
  /** Takes no more calls, lets those that it has finish for at most `timeoutMs`, and closes. @default 30000 */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
  /**
   * Ends every call with `core.closed`, says goodbye, ends all agents like {@link RunningCore.stop} without waiting for
   * calls, and removes the socket. Settles when nothing is left. Idempotent.
   */
  close(): Promise<void>;
}

/** Everything that a running core is made of. */
interface Parts {
  readonly core: Core;
  readonly desk: AgentDesk;
  readonly agents: LaunchedAgents;
  readonly directory: CoreDirectory;
  listener?: Listener;
}

const makeAgents = (options: StartCoreOptions, core: Core, desk: AgentDesk, directory: CoreDirectory) => {
  const numbers = launchNumbers(options);
  return new LaunchedAgents(
    {
      admit: (launch, observer) => core.admit(launch, observer),
      directory,
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? defaultHeartbeatIntervalMs,
      maxFrameBytes: resolveLimits(options.limits).maxFrameBytes,
      environment: options.environment ?? process.env,
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      onOutput: options.onOutput,
      maxLineLength: numbers.maxOutputLineLength,
      maxStderrBytes: numbers.maxStderrBytes,
      maxManifestBytes: numbers.maxManifestBytes,
      guardTimeoutMs: numbers.killTimeoutMs,
      killTimeoutMs: numbers.killTimeoutMs,
      outputTimeoutMs: numbers.outputTimeoutMs,
      refuseManifestDrift: options.refuseManifestDrift ?? false,
      settingsOf: (read) => supervisionSettings(numbers, options.restart, read),
      whenIdle: (agentId) => desk.whenIdle(agentId),
      get isClosing() {
        return desk.isClosing;
      },
      changed: (agent, before) => desk.changed(agent, before),
    },
    { maxAgents: numbers.maxAgents },
  );
};

const closeParts = async ({ core, desk, agents, directory, listener }: Parts): Promise<void> => {
  desk.isClosing = true;
  await agents.close();
  await core.close();
  desk.closeWatches();
  await listener?.close();
  await directory.remove();
};

const toRunningCore = (parts: Parts): RunningCore => {
  const { core, desk, agents, directory } = parts;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeParts(parts);
    return closing;
  };
  return {
    socketPath: directory.socketPath,
    connect: (channel) => core.connect(channel),
    admit: (launch, observer) => core.admit(launch, observer),
    call: (toolId, input, options) => core.call(toolId, input, options),
    tools: () => core.tools(),
    watchTools: (options) => core.watchTools(options),
    agents: () => core.agents(),
    ping: (agentId, options) => core.ping(agentId, options),
    stats: () => core.stats(),
    goodbye: (agentId, options) =>
      agents.expectBack(agentId, options.retryAfterMs, () => core.goodbye(agentId, options)),
    launch: (path) => agents.launch(path),
    stop: (agentId) => agents.stop(agentId),
    restart: (agentId) => agents.restart(agentId),
    ready: () => agents.ready(),
    launched: () => agents.all,
    health: (options) => desk.watch(agents.all, options),
    drain: async ({ timeoutMs = 30_000 } = {}) => {
      checkWholeNumber("timeoutMs", timeoutMs, 0);
      desk.isClosing = true;
      await desk.whenIdle(undefined, timeoutMs);
      await close();
    },
    close,
  };
};

/**
 * Starts a core: listens on a Unix socket in a fresh private directory, and starts the agents of the given directories.
 * It resolves when all manifests were read and the processes are being started; {@link RunningCore.ready} tells when
 * they serve.
 *
 * Rejects with `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or `manifest_invalid` for the first manifest
 * that cannot be used, `agent_exists` for two of one agent, `invalid_argument`, or `transport_failed` when there is no
 * place for the socket. Then nothing is left running.
 *
 * It sets no handler for signals and none for the end of this process: call {@link RunningCore.close} there. Where
 * that does not happen, with `process.exit` or SIGKILL, each agent's guard kills the agent and what it started, and
 * the next core that starts removes the directory that was left.
 */
export const startCore = async (options: StartCoreOptions = {}): Promise<RunningCore> => {
  const limits = resolveLimits(options.limits);
  launchNumbers(options);
  const core: Core = createGatedCore(options, {
    refusal: (agentId) => desk.refusal(agentId),
    expects: (agentId) => desk.expects(agentId),
  });
  const bases = baseDirectories(process.env, options.socketDirectory);
  await sweepCores(bases);
  const directory = await makeCoreDirectory(bases);
  const { clock = systemClock, audit } = options;
  const desk: AgentDesk = new AgentDesk({ core, clock, audit, maxWatchers: limits.maxWatchers });
  const parts: Parts = { core, desk, directory, agents: makeAgents(options, core, desk, directory) };
  const { socketPath: path } = directory;
  try {
    parts.listener = createUnixListener({ path, maxFrameBytes: limits.maxFrameBytes, clock });
    await parts.listener.listen((channel) => core.connect(channel));
    await parts.agents.startAll(options.agents ?? []);
  } catch (error) {
    await closeParts(parts);
    throw error;
  }
  return toRunningCore(parts);
};
