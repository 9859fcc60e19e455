import type { AuditSink } from "@harnesskit/audit";
import type {
  CallOptions,
  CallResult,
  CoreLimits,
  RunningCore,
  StreamChunk,
  startCore,
} from "@harnesskit/core-runtime";
import { HarnessError } from "@harnesskit/wire";
import { agentNote } from "./agent-notes.ts";

/** How long a call waits for its agent to serve, the first start included. */
const maxAgentWaitMs = 20_000;
/** Tries of a call that surely had no effect. */
const maxAttempts = 3;
const heartbeatIntervalMs = 2_000;
const unhealthyTimeoutMs = 4_000;

export interface ToolHostOptions {
  readonly agentId: string;
  /** Where the agent's manifest is. */
  readonly directory: string;
  readonly limits: Partial<CoreLimits>;
  /** What the agent and, in part, its commands inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the agent is told as the version of its core. */
  readonly version: string;
  readonly openAudit: () => Promise<AuditSink | undefined>;
  /** Told in one safe line what becomes of the agent. */
  readonly note: (line: string) => void;
  /** Told what the agent writes to its standard error. Untrusted. */
  readonly onOutput?: (line: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface HostCallOptions extends CallOptions {
  /** The call has no effect: it is made again when its agent was lost meanwhile. */
  readonly isRepeatable?: boolean;
}

type StartCore = typeof startCore;

interface Running {
  readonly core: RunningCore;
  readonly audit: AuditSink | undefined;
}

const failed = (code: string, message: string): CallResult => ({
  status: code === "tool.canceled" ? "canceled" : "failed",
  error: { code, message, where: "core" },
});

/** Runs a core with one agent, and calls the agent's tools. */
export class ToolHost {
  readonly #options: ToolHostOptions;
  #starting: Promise<Running> | undefined;
  /** The part of it that has to be undone at the end. */
  #launching: Promise<Running> | undefined;
  #restarting: Promise<unknown> | undefined;
  #isClosing = false;

  constructor(options: ToolHostOptions) {
    this.#options = options;
  }

  /** Settles when the agent's process was started. What goes wrong is told, and tried again by the next call. */
  async start(): Promise<void> {
    try {
      await this.#running();
    } catch (error) {
      if (!this.#isClosing) this.#options.onError(error);
    }
  }

  /**
   * Calls a tool of the agent, once it serves. A call that the agent did not get is made again; one that it had is not,
   * unless it is repeatable. Never rejects.
   */
  async call(
    tool: string,
    input: unknown,
    { isRepeatable = false, ...options }: HostCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult> {
    const { agentId } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const core = await this.#serving(options.signal);
      if ("status" in core) return core;
      const call = core.call(`${agentId}/${tool}`, input, options);
      for await (const chunk of call.stream) onChunk(chunk);
      const result = await call.result;
      if (result.status === "succeeded" || attempt === maxAttempts) return result;
      const { code } = result.error;
      if (code !== "agent.unavailable" && !(isRepeatable && code === "agent.lost")) return result;
    }
  }

  /** Ends the agent with all that it runs, and the core. Settles when nothing is left. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const running = await this.#launching?.catch(() => undefined);
    await running?.core.close();
    await running?.audit?.close().catch(this.#options.onError);
  }

  #running(): Promise<Running> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<Running> {
    const { startCore } = await import("@harnesskit/core-runtime");
    if (this.#isClosing) throw new HarnessError("core_stopped", "the server is closing");
    this.#launching = this.#launch(startCore);
    return this.#launching;
  }

  async #launch(startCore: StartCore): Promise<Running> {
    const { directory, limits, environment, version, openAudit, onOutput } = this.#options;
    const audit = await openAudit();
    try {
      const core = await startCore({
        agents: [directory],
        limits,
        environment,
        coreVersion: version,
        heartbeatIntervalMs,
        unhealthyTimeoutMs,
        ...(audit && { audit }),
        ...(onOutput && { onOutput: ({ line }) => onOutput(line) }),
      });
      void this.#watch(core);
      return { core, audit };
    } catch (error) {
      await audit?.close().catch(() => {});
      throw error;
    }
  }

  /** The core, when the agent serves; otherwise how the call ends. */
  async #serving(signal: AbortSignal | undefined): Promise<RunningCore | CallResult> {
    if (this.#isClosing) return failed("core.closed", "The server is closing.");
    const over = new AbortController();
    const cancelled = new Promise<CallResult>((resolve) => {
      const cancel = () => resolve(failed("tool.canceled", "The call was cancelled before it began."));
      if (signal?.aborted) cancel();
      else signal?.addEventListener("abort", cancel, { signal: over.signal });
    });
    const late = new Promise<CallResult>((resolve) => {
      const message = `The agent does not serve within ${maxAgentWaitMs} ms.`;
      const timer = setTimeout(() => resolve(failed("agent.unavailable", message)), maxAgentWaitMs);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    });
    try {
      return await Promise.race([this.#untilServing(), cancelled, late]);
    } finally {
      over.abort();
    }
  }

  async #untilServing(): Promise<RunningCore | CallResult> {
    try {
      const { core } = await this.#running();
      const state = core.launched().find(({ agentId }) => agentId === this.#options.agentId)?.state;
      if (state === "crash_loop" || state === "stopped") await this.#restart(core);
      else await core.ready();
      return core;
    } catch (error) {
      this.#options.onError(error);
      const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
      return failed("agent.unavailable", `The process of the tools could not be started${code}.`);
    }
  }

  #restart(core: RunningCore): Promise<unknown> {
    this.#restarting ??= core.restart(this.#options.agentId).finally(() => {
      this.#restarting = undefined;
    });
    return this.#restarting;
  }

  async #watch(core: RunningCore): Promise<void> {
    let before: Parameters<typeof agentNote>[1];
    let wasReady = false;
    for await (const agent of core.health()) {
      const line = agentNote(agent, before, wasReady);
      if (line !== undefined && !this.#isClosing) this.#options.note(line);
      before = agent.state;
      wasReady ||= agent.state === "ready";
    }
  }
}
