import type { AuditSink } from "@harnesskit/audit";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import type { Authorize } from "../authorize.ts";
import type { CallOptions } from "../call-options.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { CoreLimits } from "../core-limits.ts";
import type { ToolInfo } from "../judge-tool.ts";
import type { LaunchedAgent } from "../launch/launched-agent.ts";
import type { GrantStore } from "../permissions/grants.ts";
import type { RunningCore, startCore } from "../start-core.ts";
import { noteOfAgent, notReadyNote } from "./agent-notes.ts";
import { issueFor, needsDirective } from "./approved-call.ts";
import type { ListOptions, ToolHost, ToolHostCallOptions } from "./tool-host.ts";

/** How long a call waits until its agent is ready, the first start included. */
const maxAgentWaitMs = 20_000;
/** Attempts of a call that certainly had no effect. */
const maxAttempts = 3;
const heartbeatIntervalMs = 2_000;
const unhealthyTimeoutMs = 4_000;

export interface HostedAgent {
  readonly agentId: string;
  /** The directory of the agent's manifest. */
  readonly directory: string;
}

export interface AgentHostOptions {
  /** Whose ids are different. */
  readonly agents: readonly HostedAgent[];
  readonly limits?: Partial<CoreLimits>;
  /** What the agents may do beyond reading. @default nothing */
  readonly grants?: GrantStore;
  /** What the agents and, in part, their commands inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The version that the core reports to the agents. */
  readonly version: string;
  /** Decides about each call before it is sent, in place of `grants`. @default by `grants` */
  readonly authorize?: Authorize;
  /** How long `tools` waits for agents that start, in milliseconds. @default 5000 */
  readonly startTimeoutMs?: number;
  /** Opens the audit log of the core, which the host closes. @default no log */
  readonly openAudit?: () => Promise<AuditSink | undefined>;
  /** Called with one safe line when an agent's state changes. */
  readonly onNote?: (line: string) => void;
  /** Called with each line of an agent's standard error. Untrusted. */
  readonly onOutput?: (line: string, agentId: string) => void;
  readonly onError: (error: unknown) => void;
}

/** Runs agents, and calls their tools. */
export interface AgentHost extends ToolHost {
  /** Settles when the agents are being started. A failure is reported to `onError`, and the next call tries again. */
  start(): Promise<void>;
  /** Ends the agents with everything that they run, and the core. */
  close(): Promise<void>;
}

interface Running {
  readonly core: RunningCore;
  readonly audit: AuditSink | undefined;
}

/** A host that runs a core of its own, and restarts an agent when a call needs it. Starts nothing yet. */
export const createAgentHost = (options: AgentHostOptions): AgentHost => new CoreAgentHost(options);

class CoreAgentHost implements AgentHost {
  readonly #options: AgentHostOptions;
  readonly #directories: ReadonlyMap<string, string>;
  #starting: Promise<Running> | undefined;
  /** What must be closed at the end. */
  #launching: Promise<Running> | undefined;
  /** Starts and restarts that go on. */
  readonly #restarting = new Map<string, Promise<unknown>>();
  /** Agents that were not ready in time: `tools` does not wait for them again until they are. */
  readonly #late = new Set<string>();
  readonly #reported = new WeakSet<object>();
  #isClosing = false;

  constructor(options: AgentHostOptions) {
    this.#options = options;
    this.#directories = new Map(options.agents.map(({ agentId, directory }) => [agentId, directory]));
  }

  async start(): Promise<void> {
    try {
      await this.#running();
    } catch (error) {
      this.#report(error);
    }
  }

  async tools({ signal, without = [] }: ListOptions = {}): Promise<readonly ToolInfo[]> {
    const { startTimeoutMs = 5_000, onNote } = this.#options;
    const wanted = [...this.#directories.keys()].filter((agentId) => !without.includes(agentId));
    if (wanted.length === 0 || this.#isClosing) return [];
    const tools = async () =>
      (await this.#running()).core.tools().filter(({ agent_id: agentId }) => wanted.includes(agentId));
    const awaited = wanted.filter((agentId) => !this.#late.has(agentId));
    await Promise.all(
      awaited.map(async (agentId) => {
        const ready = async () => this.#ready((await this.#running()).core, agentId);
        const settled = await settleWithin(ready(), {
          name: "agent.ready",
          timeoutMs: startTimeoutMs,
          signal,
        });
        if (settled.status !== "timed_out" || this.#isClosing) return;
        this.#late.add(agentId);
        onNote?.(notReadyNote(agentId, startTimeoutMs));
      }),
    );
    // Why an agent does not start is reported where it ends.
    return tools().catch(() => []);
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
    let options: CallOptions = given;
    for (let attempt = 1; ; attempt++) {
      const core = await this.#readyCore(toolId, options.signal);
      if ("status" in core) return core;
      if (approval && options.directiveId === undefined && needsDirective(core, toolId)) {
        const directiveId = await issueFor(core, approval, toolId, input);
        if (typeof directiveId !== "string") return directiveId;
        options = { ...options, directiveId };
      }
      const call = core.call(toolId, input, options);
      for await (const chunk of call.stream) onChunk(chunk);
      const result = await call.result;
      if (result.status === "succeeded" || attempt === maxAttempts) return result;
      const { code } = result.error;
      if (code !== "agent.unavailable" && !(isRepeatable && code === "agent.lost")) return result;
    }
  }

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
    const { startCore } = await import("../start-core.ts");
    if (this.#isClosing) throw new HarnessError("core_stopped", "the host of the agents is closing");
    this.#launching = this.#launch(startCore);
    return this.#launching;
  }

  async #launch(start: typeof startCore): Promise<Running> {
    const { limits, grants, authorize, environment, version, openAudit, onOutput } = this.#options;
    const audit = await openAudit?.();
    try {
      const core = await start({
        environment,
        coreVersion: version,
        heartbeatIntervalMs,
        unhealthyTimeoutMs,
        ...(limits && { limits }),
        ...(grants && { grants }),
        ...(authorize && { authorize }),
        ...(audit && { audit }),
        ...(onOutput && { onOutput: ({ line, agentId }) => onOutput(line, agentId) }),
      });
      void this.#watch(core);
      for (const agentId of this.#directories.keys()) {
        this.#ready(core, agentId).catch((error: unknown) => {
          // An agent that ends is reported as a note.
          const isNoted = HarnessError.isInstance(error) && error.code === "agent_start_failed";
          if (!isNoted) this.#report(error);
        });
      }
      return { core, audit };
    } catch (error) {
      await audit?.close().catch(() => {});
      throw error;
    }
  }

  /** The core once the tool's agent is ready, or how the call ends. */
  async #readyCore(toolId: string, signal: AbortSignal | undefined): Promise<RunningCore | CallResult> {
    if (this.#isClosing) return coreResult(RuntimeErrorCode.CoreClosed, "The server is closing.");
    const agentId = toolId.slice(0, Math.max(0, toolId.indexOf("/")));
    if (!this.#directories.has(agentId)) {
      return coreResult(RuntimeErrorCode.ToolNotFound, "There is no agent of this tool.");
    }
    const ready = await settleWithin(this.#whenReady(agentId), {
      name: "agent.ready",
      timeoutMs: maxAgentWaitMs,
      signal,
      holdsProcess: true,
    });
    if (ready.status === "done") return ready.value;
    if (ready.status === "cancelled") {
      return coreResult(RuntimeErrorCode.Canceled, "The call was cancelled before it began.");
    }
    const message = `The agent is not ready within ${maxAgentWaitMs} ms.`;
    return coreResult(RuntimeErrorCode.AgentUnavailable, message);
  }

  async #whenReady(agentId: string): Promise<RunningCore | CallResult> {
    try {
      const { core } = await this.#running();
      await this.#ready(core, agentId);
      return core;
    } catch (error) {
      this.#report(error);
      const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
      return coreResult(
        RuntimeErrorCode.AgentUnavailable,
        `The process of the tools could not be started${code}.`,
      );
    }
  }

  /** Settles when the agent has registered its tools; starts it where it does not run. */
  #ready(core: RunningCore, agentId: string): Promise<unknown> {
    const going = this.#restarting.get(agentId);
    if (going !== undefined) return going;
    const state = core.launched().find((agent) => agent.agentId === agentId)?.state;
    if (state !== undefined && state !== "crash_loop" && state !== "stopped") return core.ready(agentId);
    const directory = this.#directories.get(agentId) as string;
    const starting = (state === undefined ? core.launch(directory) : core.restart(agentId)).finally(() =>
      this.#restarting.delete(agentId),
    );
    this.#restarting.set(agentId, starting);
    return starting;
  }

  /** Reports an error once, also if several waited for what failed. */
  #report(error: unknown): void {
    if (this.#isClosing) return;
    if (typeof error === "object" && error !== null) {
      if (this.#reported.has(error)) return;
      this.#reported.add(error);
    }
    this.#options.onError(error);
  }

  async #watch(core: RunningCore): Promise<void> {
    const before = new Map<string, LaunchedAgent["state"]>();
    const wereReady = new Set<string>();
    for await (const agent of core.health()) {
      const { agentId, state } = agent;
      const line = state === before.get(agentId) ? undefined : noteOfAgent(agent, wereReady.has(agentId));
      if (line !== undefined && !this.#isClosing) this.#options.onNote?.(line);
      before.set(agentId, state);
      if (state !== "ready") continue;
      wereReady.add(agentId);
      this.#late.delete(agentId);
    }
  }
}
