import type { AuditSink } from "@harnesskit/audit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { displayText, HarnessError } from "@harnesskit/wire";
import { isoTime, settleWithin } from "@harnesskit/wire/time";
import type { CallOptions } from "../call-options.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { CoreLimits } from "../core-limits.ts";
import { unbacked } from "../directives/backing.ts";
import type { LaunchedAgent } from "../launch/launched-agent.ts";
import type { GrantStore } from "../permissions/grants.ts";
import { recordFault } from "../records/record-file-error.ts";
import type { RunningCore, startCore } from "../start-core.ts";

/** How long a call waits until its agent is ready, the first start included. */
const maxAgentWaitMs = 20_000;
/** Attempts of a call that certainly had no effect. */
const maxAttempts = 3;
/** How long a directive for an approved call is in force: longer than its agent may take to be ready. */
const directiveLifetimeMs = 5 * 60_000;
const heartbeatIntervalMs = 2_000;
const unhealthyTimeoutMs = 4_000;

export interface AgentHostOptions {
  readonly agentId: string;
  /** The directory of the agent's manifest. */
  readonly directory: string;
  readonly limits?: Partial<CoreLimits>;
  /** What the agent may do beyond reading. @default nothing */
  readonly grants?: GrantStore;
  /** What the agent and, in part, its commands inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The version that the core reports to the agent. */
  readonly version: string;
  /** Opens the audit log of the core, which the host closes. @default no log */
  readonly openAudit?: () => Promise<AuditSink | undefined>;
  /** Called with one safe line when the agent's state changes. */
  readonly onNote?: (line: string) => void;
  /** Called with each line of the agent's standard error. Untrusted. */
  readonly onOutput?: (line: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface AgentCallOptions extends CallOptions {
  /** The call has no effect: it is repeated if its agent is lost. */
  readonly isRepeatable?: boolean;
  /** The human's approval of exactly this call: a tool that requires a directive gets one for it, to be used once. */
  readonly approval?: { readonly id: string; readonly by: string };
}

/** Calls the tools of one agent. */
export interface AgentHost {
  /** Settles when the agent's process was started. A failure is reported to `onError`, and the next call tries again. */
  start(): Promise<void>;
  /**
   * Calls a tool once the agent is ready. A call that the agent did not receive is repeated; one that it received is not,
   * unless it is repeatable. Never rejects.
   */
  call(
    tool: string,
    input: unknown,
    options: AgentCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult>;
  /** Ends the agent with everything that it runs, and the core. */
  close(): Promise<void>;
}

interface Running {
  readonly core: RunningCore;
  readonly audit: AuditSink | undefined;
}

/** A host that runs a core of its own with one agent, and restarts the agent when a call needs it. Starts nothing yet. */
export const createAgentHost = (options: AgentHostOptions): AgentHost => new CoreAgentHost(options);

class CoreAgentHost implements AgentHost {
  readonly #options: AgentHostOptions;
  #starting: Promise<Running> | undefined;
  /** What must be closed at the end. */
  #launching: Promise<Running> | undefined;
  #restarting: Promise<unknown> | undefined;
  #isClosing = false;

  constructor(options: AgentHostOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    try {
      await this.#running();
    } catch (error) {
      if (!this.#isClosing) this.#options.onError(error);
    }
  }

  async call(
    tool: string,
    input: unknown,
    { isRepeatable = false, approval, ...given }: AgentCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult> {
    const toolId = `${this.#options.agentId}/${tool}`;
    let options: CallOptions = given;
    for (let attempt = 1; ; attempt++) {
      const core = await this.#readyCore(given.signal);
      if ("status" in core) return core;
      if (approval && options.directiveId === undefined && needsDirective(core, toolId)) {
        const directive = await issueFor(approval, core, toolId, input);
        if (typeof directive !== "string") return directive;
        options = { ...options, directiveId: directive };
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
    if (this.#isClosing) throw new HarnessError("core_stopped", "the host of the agent is closing");
    this.#launching = this.#launch(startCore);
    return this.#launching;
  }

  async #launch(start: typeof startCore): Promise<Running> {
    const { directory, limits, grants, environment, version, openAudit, onOutput } = this.#options;
    const audit = await openAudit?.();
    try {
      const core = await start({
        agents: [directory],
        environment,
        coreVersion: version,
        heartbeatIntervalMs,
        unhealthyTimeoutMs,
        ...(limits && { limits }),
        ...(grants && { grants }),
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

  /** The core once the agent is ready, or how the call ends. */
  async #readyCore(signal: AbortSignal | undefined): Promise<RunningCore | CallResult> {
    if (this.#isClosing) return coreResult(RuntimeErrorCode.CoreClosed, "The server is closing.");
    const ready = await settleWithin(this.#whenReady(), {
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

  async #whenReady(): Promise<RunningCore | CallResult> {
    try {
      const { core } = await this.#running();
      const state = core.launched().find(({ agentId }) => agentId === this.#options.agentId)?.state;
      if (state === "crash_loop" || state === "stopped") await this.#restart(core);
      else await core.ready();
      return core;
    } catch (error) {
      this.#options.onError(error);
      const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
      return coreResult(
        RuntimeErrorCode.AgentUnavailable,
        `The process of the tools could not be started${code}.`,
      );
    }
  }

  #restart(core: RunningCore): Promise<unknown> {
    this.#restarting ??= core.restart(this.#options.agentId).finally(() => {
      this.#restarting = undefined;
    });
    return this.#restarting;
  }

  async #watch(core: RunningCore): Promise<void> {
    let before: LaunchedAgent["state"] | undefined;
    let wasReady = false;
    for await (const agent of core.health()) {
      const line = agent.state === before ? undefined : noteOf(agent, wasReady);
      if (line !== undefined && !this.#isClosing) this.#options.onNote?.(line);
      before = agent.state;
      wasReady ||= agent.state === "ready";
    }
  }
}

const needsDirective = (core: RunningCore, toolId: string): boolean =>
  core.tools().some((tool) => tool.tool_id === toolId && tool.requires_directive === true);

/** The id of a directive for the call that was approved, or how the call ends. */
const issueFor = async (
  { id, by }: NonNullable<AgentCallOptions["approval"]>,
  core: RunningCore,
  toolId: string,
  input: unknown,
): Promise<string | CallResult> => {
  try {
    const issued = await core.directives.issue({
      tool_id: toolId,
      input: input as JsonObject,
      issued_by: { type: "human", id: by.slice(0, 256) || "unknown" },
      until: isoTime(Date.now() + directiveLifetimeMs),
      causation_id: id,
    });
    return issued.id;
  } catch (error) {
    return unbacked("unavailable", ` (${recordFault(error)})`);
  }
};

/** A change that the user should know of. */
const noteOf = (
  { agentId, state, reason, reasonCode }: LaunchedAgent,
  wasReady: boolean,
): string | undefined => {
  const why = reason === undefined ? "" : ` (${displayText(reason, { maxLength: 300 })})`;
  const agent = `the agent ${agentId}`;
  switch (state) {
    case "ready":
      return wasReady ? `${agent} is ready again` : undefined;
    case "unhealthy":
      // The end of the process follows, and is reported.
      return reasonCode === "disconnected" ? undefined : `${agent} does not answer${why}`;
    case "backoff":
      return `${agent} has ended and is restarted${why}`;
    case "crash_loop":
      return `${agent} was given up; the next call restarts it${why}`;
    case "stopped":
      return `${agent} has ended; the next call restarts it${why}`;
    default:
      return undefined;
  }
};
