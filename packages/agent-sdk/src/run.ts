import { readOwnFile, sha256Digest } from "@harnesskit/node-kit";
import { AGENT_MANIFEST_FILE, agentEnvironment } from "@harnesskit/protocol/runtime";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { displayText, type HarnessError } from "@harnesskit/wire";
import { type ReconnectOptions, type ReconnectPolicy, resolveReconnect } from "@harnesskit/wire/rpc";
import { backoffDelayMs, wait } from "@harnesskit/wire/time";
import type { AgentCore } from "./agent-core.ts";
import { MissingEnvironmentError, StrayFailureError } from "./errors.ts";
import { Session, type SessionEnd } from "./session.ts";
import { callScope } from "./tool-call.ts";

/** What a core passes to the process that it starts. */
interface LaunchParameters {
  readonly socketPath: string;
  readonly token: string;
  /** Bytes of the largest frame; undefined where the core does not say it. */
  readonly maxFrameBytes: number | undefined;
}

/** A whole number above 0; anything else is treated as absent. */
const positiveOf = (text: string | undefined): number | undefined => {
  const value = /^\d{1,15}$/.test(text ?? "") ? Number(text) : 0;
  return value > 0 ? value : undefined;
};

/** Reads socket, token and options, and takes the token out of the environment at once. Throws `missing_environment`. */
const takeLaunchParameters = (env: NodeJS.ProcessEnv): LaunchParameters => {
  const socketPath = env[agentEnvironment.socket];
  const token = env[agentEnvironment.token];
  delete env[agentEnvironment.token];
  const maxFrameBytes = positiveOf(env[agentEnvironment.maxFrameBytes]);
  if (socketPath && token) return { socketPath, token, maxFrameBytes };
  const needed = { [agentEnvironment.socket]: socketPath, [agentEnvironment.token]: token };
  const missing = Object.entries(needed).filter(([, value]) => !value);
  throw new MissingEnvironmentError(missing.map(([name]) => name));
};

/** As much as a core reads. */
const maxManifestBytes = 262_144;

/** The hash of this agent's manifest in the working directory, where a core starts it; undefined if none is there. */
const readManifestHash = async (agentId: string): Promise<string | undefined> => {
  try {
    const bytes = await readOwnFile(AGENT_MANIFEST_FILE, { maxBytes: maxManifestBytes });
    const manifest: unknown = JSON.parse(bytes.toString());
    if ((manifest as { id?: unknown } | null)?.id !== agentId) return undefined;
    return sha256Digest(bytes);
  } catch {
    return undefined;
  }
};

/** Options of `run`. */
export interface RunOptions {
  /** How long the process may take to leave by itself when the agent has ended; then it exits. @default 1000 */
  readonly exitGraceMs?: number | undefined;
  /**
   * How the agent connects again after the core asked it to come back; the wait before the first attempt is the core's
   * `retry_after_ms`, of at most five minutes. `false` ends the agent instead. @default 10 attempts, from 100 ms to 30 s apart
   */
  readonly reconnect?: false | Omit<ReconnectOptions, "waitMs"> | undefined;
}

/** Why an agent that ran has ended. */
export interface RunEnd {
  /** As a connection ends, or `signal` for SIGTERM and SIGINT, `stopped` for `agent.stop()`. */
  readonly reason: SessionEnd["reason"] | "signal" | "stopped";
  readonly signal?: NodeJS.Signals | undefined;
  readonly error?: HarnessError | undefined;
  /** 0 where the agent was asked to end, else 1. */
  readonly exitCode: 0 | 1;
}

const endSignals = ["SIGTERM", "SIGINT"] as const;

/** The longest `retry_after_ms` that is waited for; beyond it the agent ends. */
const maxRetryAfterMs = 300_000;

/** After these a core may still come up; any other failure is final. */
const retryable = new Set(["transport_failed", "connection_closed", "request_timeout"]);

class AgentRun {
  readonly #core: AgentCore;
  readonly #reconnect: ReconnectPolicy | undefined;
  readonly #launch: LaunchParameters;
  readonly #interrupt = new AbortController();
  #signal: NodeJS.Signals | undefined;
  #stopped: Promise<void> | undefined;
  #manifestHash: string | undefined;

  constructor(core: AgentCore, reconnect: ReconnectPolicy | undefined, launch: LaunchParameters) {
    this.#core = core;
    this.#reconnect = reconnect;
    this.#launch = launch;
  }

  async end(): Promise<RunEnd> {
    const leave = this.#enter();
    try {
      this.#manifestHash = await readManifestHash(this.#core.settings.id);
      let session = await this.#connect();
      for (;;) {
        const end = await session.closed;
        await this.#core.whenIdle();
        if (this.#interrupt.signal.aborted) return this.#interrupted();
        const next = await this.#again(end);
        if (!(next instanceof Session)) return next;
        session = next;
      }
    } catch (error) {
      if (this.#interrupt.signal.aborted) return this.#interrupted();
      throw error;
    } finally {
      await this.#stopped;
      await this.#core.outputFiles?.close();
      leave();
    }
  }

  /** Installs the handlers of the process; returns what removes them. */
  #enter(): () => void {
    const core = this.#core;
    core.fallbackReport = (error) => this.#print(error);
    core.interruptRun = () => this.#interrupt.abort();
    const giveBack = catchStrayFailures(core);
    const keepAlive = setInterval(() => {}, 2 ** 30);
    const ignore = () => {};
    process.stderr.on("error", ignore);
    const onSignal = (signal: NodeJS.Signals) => {
      stopListening();
      this.#signal = signal;
      this.#stopped = core.stop();
    };
    const stopListening = () => {
      for (const signal of endSignals) process.off(signal, onSignal);
    };
    for (const signal of endSignals) process.on(signal, onSignal);
    return () => {
      stopListening();
      giveBack();
      clearInterval(keepAlive);
      process.stderr.off("error", ignore);
      core.fallbackReport = undefined;
      core.interruptRun = undefined;
    };
  }

  async #connect(): Promise<Session> {
    const { signal } = this.#interrupt;
    const { socketPath: path, maxFrameBytes } = this.#launch;
    const channel = await createUnixTransport({ path, maxFrameBytes }).connect({ signal });
    const session = new Session(this.#core, channel, this.#launch.token);
    await session.open(this.#manifestHash);
    return session;
  }

  /** Connects again if the core asked for it; else says how the agent ends. */
  async #again(end: SessionEnd): Promise<Session | RunEnd> {
    const policy = this.#reconnect;
    let waitMs = end.goodbye?.retry_after_ms;
    if (policy === undefined || waitMs === undefined || waitMs > maxRetryAfterMs) return toRunEnd(end);
    let failure: HarnessError | undefined;
    for (let attempt = 1; attempt <= policy.maxAttempts; attempt++) {
      await wait(waitMs, this.#core.clock, this.#interrupt.signal);
      if (this.#interrupt.signal.aborted) return this.#interrupted();
      try {
        return await this.#connect();
      } catch (error) {
        if (this.#interrupt.signal.aborted) return this.#interrupted();
        failure = error as HarnessError;
        if (!retryable.has(failure.code)) break;
      }
      waitMs = backoffDelayMs(attempt, policy);
    }
    return { reason: "core_gone", exitCode: 1, error: failure };
  }

  #interrupted(): RunEnd {
    const signal = this.#signal;
    return signal ? { reason: "signal", signal, exitCode: 0 } : { reason: "stopped", exitCode: 0 };
  }

  #print(error: HarnessError): void {
    const { cause } = error;
    const why = cause instanceof Error ? `: ${cause.name}: ${cause.message}` : "";
    const line = displayText(this.#core.redact(`${error.code}: ${error.message}${why}`));
    process.stderr.write(`agent ${this.#core.settings.id}: ${line}\n`);
  }
}

const toRunEnd = ({ reason, error }: SessionEnd): RunEnd => ({
  reason,
  exitCode: reason === "goodbye" ? 0 : 1,
  error,
});

/** Serves the core that started this process until it is gone. */
export const runAgent = async (core: AgentCore, options: RunOptions): Promise<RunEnd> => {
  const { exitGraceMs = 1000, reconnect } = options;
  const launch = takeLaunchParameters(process.env);
  let exitCode: RunEnd["exitCode"] = 1;
  try {
    const end = await new AgentRun(core, resolveReconnect(reconnect), launch).end();
    exitCode = end.exitCode;
    return end;
  } finally {
    // By itself if nothing of a tool holds it.
    process.exitCode = exitCode;
    setTimeout(() => process.exit(exitCode), exitGraceMs).unref();
  }
};

/**
 * Handles uncaught exceptions and unhandled rejections: the call whose tool caused them fails; the process goes on. Those
 * of no call are reported. Returns what restores the process's own behaviour.
 */
const catchStrayFailures = (core: AgentCore): (() => void) => {
  const caught = (cause: unknown) => {
    const call = callScope.getStore();
    if (call && !call.isSettled) call.failStray(cause);
    else core.report(new StrayFailureError(call?.tool.name, { cause }));
  };
  process.on("uncaughtException", caught);
  process.on("unhandledRejection", caught);
  return () => {
    process.off("uncaughtException", caught);
    process.off("unhandledRejection", caught);
  };
};
