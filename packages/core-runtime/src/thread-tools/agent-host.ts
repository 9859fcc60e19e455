import type { AuditSink } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { callSafely, HarnessError } from "@harnesskit/wire";
import { settleWithin, systemClock, wait } from "@harnesskit/wire/time";
import type { CallOptions } from "../call-options.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { RunningCore } from "../core.ts";
import { type CoreLimits, coreLimits } from "../core-limits.ts";
import type { ToolInfo } from "../judge-tool.ts";
import type { LaunchedAgent } from "../launch/launched-agent.ts";
import { checkAgentHostOptions } from "../option-names.ts";
import { noteOfAgent, noteOfMissingTools } from "./agent-notes.ts";
import { directiveFor } from "./approved-call.ts";
import { KnownTools } from "./known-tools.ts";
import type {
  AgentHost,
  AgentHostOptions,
  HostedAgent,
  ListOptions,
  ToolHostCallOptions,
} from "./tool-host.ts";

/** How long a turn waits for an agent that names no other time; after as much, a longer wait is noted. */
const defaultStartMs = 5_000;
/** How long a call waits until its agent is ready, the first start included. */
const maxAgentWaitMs = 60_000;
/** Attempts of a call that certainly had no effect. */
const maxAttempts = 3;
/** Before the second attempt; longer before the third. What an agent works with, such as an MCP server, may be starting again. */
const retryDelayMs = 750;
/** Between the starts of two agents that no caller waits for: the turn has the processor meanwhile. */
const startPauseMs = 500;
const heartbeatIntervalMs = 2_000;
const unhealthyTimeoutMs = 4_000;

const { AgentUnavailable, Canceled, CoreClosed, ToolNotFound } = RuntimeErrorCode;

interface Running {
  readonly core: RunningCore;
  readonly audit: AuditSink | undefined;
}

/** Runs a core, and restarts an agent when a call needs it. Starts nothing yet. Throws `invalid_argument` for invalid options. */
export const createAgentHost = (options: AgentHostOptions): AgentHost =>
  new CoreAgentHost(checkAgentHostOptions(options));

class CoreAgentHost implements AgentHost {
  readonly #options: AgentHostOptions;
  readonly #agents: ReadonlyMap<string, HostedAgent>;
  readonly #limits: CoreLimits;
  readonly #known: KnownTools;
  #starting: Promise<Running> | undefined;
  /** Starts and restarts that go on. */
  readonly #restarting = new Map<string, Promise<unknown>>();
  #core: RunningCore | undefined;
  /** Agents that were not ready in time: `tools` does not wait for them again until they are. */
  readonly #late = new Set<string>();
  /** Failures that were reported: several may wait for what failed. */
  readonly #reported = new WeakSet<object>();
  readonly #closing = new AbortController();

  constructor(options: AgentHostOptions) {
    this.#options = options;
    this.#agents = new Map(options.agents.map((agent) => [agent.agentId, agent]));
    this.#limits = coreLimits.resolve(options.limits);
    this.#known = new KnownTools(options.knownTools, this.#limits);
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async start(): Promise<void> {
    await this.#running().catch((error: unknown) => this.#report(error));
  }

  async tools({ signal, without = [] }: ListOptions = {}): Promise<readonly ToolInfo[]> {
    const wanted = [...this.#agents.values()].filter(({ agentId }) => !without.includes(agentId));
    if (wanted.length === 0 || this.#isClosing) return [];
    const all = await Promise.all(
      wanted.map(async (agent) => {
        if (this.#launched(agent.agentId)?.state !== "ready") {
          const known = await this.#known.of(agent);
          if (known) return known;
          await this.#awaitTools(agent, signal);
        }
        // Why an agent does not start is reported where it ends.
        return this.#running().then(
          ({ core }) => toolsOf(core, agent.agentId),
          () => [],
        );
      }),
    );
    return all.flat();
  }

  /** Waits for the tools of an agent, and notes why a turn goes on without them. */
  async #awaitTools({ agentId, startTimeoutMs }: HostedAgent, signal?: AbortSignal): Promise<void> {
    if (this.#late.has(agentId)) return;
    const timeoutMs = startTimeoutMs ?? defaultStartMs;
    const slow = `the agent ${agentId} is still starting, and may take up to ${timeoutMs / 1000} s`;
    const slowTimer =
      timeoutMs > defaultStartMs ? setTimeout(() => this.#note(slow), defaultStartMs) : undefined;
    const ready = this.#running().then(({ core }) => this.#ready(core, agentId));
    const { status } = await settleWithin(ready, { name: "agent.ready", timeoutMs, signal });
    clearTimeout(slowTimer);
    if (status === "cancelled" || (this.#launched(agentId)?.toolIds.length ?? 0) > 0) return;
    this.#note(noteOfMissingTools(agentId, status, timeoutMs));
    this.#late.add(agentId);
  }

  async check(toolId: string, input: unknown, options: CallOptions): Promise<CallResult | undefined> {
    const core = await this.#readyCore(toolId, options.signal);
    return "status" in core ? core : core.check(toolId, input, options);
  }

  async call(
    toolId: string,
    input: unknown,
    { isRepeatable = false, approval, ...given }: ToolHostCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult> {
    let options = given;
    const { maxTimeoutMs } = this.#limits;
    if (given.timeoutMs) options = { ...given, timeoutMs: Math.min(given.timeoutMs, maxTimeoutMs) };
    for (let attempt = 1; ; attempt++) {
      const core = await this.#readyCore(toolId, options.signal);
      if ("status" in core) return core;
      if (approval && options.directiveId === undefined) {
        const directiveId = directiveFor(core, approval, toolId, input);
        if (typeof directiveId === "object") return directiveId;
        options = { ...options, directiveId };
      }
      const call = core.call(toolId, input, options);
      for await (const chunk of call.stream) onChunk(chunk);
      const result = await call.result;
      if (result.status === "succeeded" || attempt === maxAttempts) return result;
      const { code } = result.error;
      if (code !== "agent.unavailable" && !(isRepeatable && code === "agent.lost")) return result;
      await wait(attempt * retryDelayMs, systemClock, options.signal).catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const running = await this.#starting?.catch(() => undefined);
    await running?.core.close();
    await running?.audit?.close().catch((error: unknown) => callSafely(() => this.#options.onError?.(error)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #running(): Promise<Running> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<Running> {
    const { startCore } = await import("../start-core.ts");
    if (this.#isClosing) throw new HarnessError("core_stopped", "the host of the agents is closing");
    const { environment, version, limits, grants, operatorCommand, onOutput, onError } = this.#options;
    const audit = await this.#options.openAudit?.();
    try {
      const core = await startCore({
        environment,
        coreVersion: version,
        operatorCommand,
        heartbeatIntervalMs,
        unhealthyTimeoutMs,
        limits,
        grants,
        audit,
        onError: (error) => onError?.(error),
        onOutput: onOutput && (({ line, agentId }) => onOutput(line, agentId)),
      });
      this.#core = core;
      void this.#watch(core);
      void this.#startAgents(core);
      return { core, audit };
    } catch (error) {
      await audit?.close().catch(() => {});
      throw error;
    }
  }

  /** Agents whose tools are known start one after the other, with pauses: no caller waits for them, and the turn does. */
  async #startAgents(core: RunningCore): Promise<void> {
    const later: string[] = [];
    await Promise.all(
      [...this.#agents.values()].map(async (agent) => {
        if (await this.#known.of(agent)) later.push(agent.agentId);
        else await this.#startAgent(core, agent.agentId);
      }),
    );
    for (const agentId of later) {
      await this.#startAgent(core, agentId);
      await wait(startPauseMs, systemClock, this.#closing.signal);
    }
  }

  async #startAgent(core: RunningCore, agentId: string): Promise<void> {
    if (this.#isClosing) return;
    try {
      await this.#ready(core, agentId);
    } catch (error) {
      // An agent that ends is reported as a note.
      const isNoted = HarnessError.isInstance(error) && error.code === "agent_start_failed";
      if (!isNoted) this.#report(error);
    }
  }

  /** The core once the tool's agent is ready, or how the call ends. */
  async #readyCore(toolId: string, signal: AbortSignal | undefined): Promise<RunningCore | CallResult> {
    if (this.#isClosing) return coreResult(CoreClosed, "The server is closing.");
    const agentId = toolId.slice(0, Math.max(0, toolId.indexOf("/")));
    if (!this.#agents.has(agentId)) return coreResult(ToolNotFound, "No agent has this tool.");
    const ready = this.#running().then(async ({ core }) => {
      await this.#ready(core, agentId);
      return core;
    });
    // Also of one that fails later.
    ready.catch((error: unknown) => this.#report(error));
    const settled = await settleWithin(ready, { name: "agent.ready", timeoutMs: maxAgentWaitMs, signal });
    switch (settled.status) {
      case "done":
        return settled.value;
      case "cancelled":
        return coreResult(Canceled, "The call was cancelled before it began.");
      case "timed_out":
        return coreResult(AgentUnavailable, `The agent is not ready within ${maxAgentWaitMs} ms.`);
      case "failed": {
        const code = HarnessError.isInstance(settled.error) ? ` (${settled.error.code})` : "";
        return coreResult(AgentUnavailable, `The process of the tools could not be started${code}.`);
      }
    }
  }

  #launched(agentId: string): LaunchedAgent | undefined {
    return this.#core?.launched().find((agent) => agent.agentId === agentId);
  }

  /** Settles when the agent has registered its tools; starts it where it does not run. */
  #ready(core: RunningCore, agentId: string): Promise<unknown> {
    const going = this.#restarting.get(agentId);
    if (going !== undefined) return going;
    const state = this.#launched(agentId)?.state;
    // The attempt that ends has failed already: what is awaited is the next one.
    const isEnding = state === "unhealthy" || state === "stopping";
    if (isEnding) return core.ready(agentId).catch(() => this.#ready(core, agentId));
    if (state !== undefined && state !== "crash_loop" && state !== "stopped") return core.ready(agentId);
    const { directory } = this.#agents.get(agentId) as HostedAgent;
    const starting = (state === undefined ? core.launch(directory) : core.restart(agentId)).finally(() =>
      this.#restarting.delete(agentId),
    );
    this.#restarting.set(agentId, starting);
    return starting;
  }

  /** Reports an error once. */
  #report(error: unknown): void {
    if (this.#isClosing) return;
    if (typeof error === "object" && error !== null) {
      if (this.#reported.has(error)) return;
      this.#reported.add(error);
    }
    callSafely(() => this.#options.onError?.(error));
  }

  #note(line: string | undefined): void {
    if (line !== undefined && !this.#isClosing) this.#options.onNote?.(line);
  }

  async #watch(core: RunningCore): Promise<void> {
    const before = new Map<string, LaunchedAgent["state"]>();
    const wereReady = new Set<string>();
    for await (const agent of core.health()) {
      const { agentId, state } = agent;
      if (state !== before.get(agentId)) this.#note(noteOfAgent(agent, wereReady.has(agentId)));
      before.set(agentId, state);
      if (state !== "ready") continue;
      wereReady.add(agentId);
      this.#late.delete(agentId);
      const hosted = this.#agents.get(agentId) as HostedAgent;
      if (!(await this.#known.update(hosted, toolsOf(core, agentId)))) continue;
      const line = `the agent ${agentId} has other tools than when it last ran`;
      this.#note(`${line}: the next turn has them; a call of a changed one is refused`);
    }
  }
}

const toolsOf = (core: RunningCore, agentId: string): readonly ToolInfo[] =>
  core.tools().filter((tool) => tool.agent_id === agentId);
