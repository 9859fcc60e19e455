import type { AuditSink } from "@harnesskit/audit";
import type { ToolContext } from "@harnesskit/wire/tool";
import type { CallOptions } from "../call-options.ts";
import type { CallResult } from "../call-result.ts";
import type { StreamChunk } from "../call-stream.ts";
import type { CoreOptions } from "../core-options.ts";
import type { ToolInfo } from "../judge-tool.ts";
import type { KnownToolsStore } from "./known-tools.ts";

export interface ToolHostCallOptions extends CallOptions {
  /** The call has no effect: it is repeated if its agent is lost. */
  readonly isRepeatable?: boolean | undefined;
  /** A human's approval of exactly this call: a tool that requires a directive gets one for it, to be used once. */
  readonly approval?: ToolContext["approval"] | undefined;
}

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
  /** Agents whose tools are left out, and not waited for. @default none */
  readonly without?: readonly string[] | undefined;
}

/** What conversations need of a core: here, or in another process. */
export interface ToolHost {
  /** The tools of the agents that are ready. Waits for those that start, within a bound. Never rejects. */
  tools(options?: ListOptions): Promise<readonly ToolInfo[]>;
  /** How such a call would be refused now, before its agent receives it, or undefined. Never rejects. */
  check(toolId: string, input: unknown, options: CallOptions): Promise<CallResult | undefined>;
  /**
   * Calls a tool, `AGENT/NAME`, once its agent is ready. A call that the agent did not receive is repeated; one that it
   * received is not, unless it is repeatable. Never rejects.
   */
  call(
    toolId: string,
    input: unknown,
    options: ToolHostCallOptions,
    onChunk: (chunk: StreamChunk) => void,
  ): Promise<CallResult>;
}

/** An agent that a host starts. */
export interface HostedAgent {
  readonly agentId: string;
  /** The directory of the agent's manifest. */
  readonly directory: string;
  /** How long `tools` waits for it if its tools are not known: what its manifest has as `start_timeout_ms`. @default 5000 */
  readonly startTimeoutMs?: number | undefined;
}

export interface AgentHostOptions extends Pick<CoreOptions, "limits" | "grants" | "operatorCommand"> {
  /** Whose ids are different. */
  readonly agents: readonly HostedAgent[];
  /** What the agents and, in part, their commands inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The version that the core reports to the agents. */
  readonly version: string;
  /**
   * What the agents declared when they last ran. `tools` shows it without waiting; such agents start one after the other, or
   * when they are called first. A call is bound to what was shown. @default none: `tools` waits for each agent
   */
  readonly knownTools?: KnownToolsStore | undefined;
  /** Opens the audit log of the core, which the host closes. @default no log */
  readonly openAudit?: (() => Promise<AuditSink | undefined>) | undefined;
  /** Called with one safe line when an agent's state changes. @default ignored */
  readonly onNote?: ((line: string) => void) | undefined;
  /** Called with each line of an agent's standard error. Untrusted. @default ignored */
  readonly onOutput?: ((line: string, agentId: string) => void) | undefined;
  /** Reports what fails behind the callers. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Runs agents, and calls their tools. */
export interface AgentHost extends ToolHost, AsyncDisposable {
  /** Settles when the agents are being started. A failure is reported to `onError`, and the next call tries again. */
  start(): Promise<void>;
  /** Ends the agents with everything that they run, and the core. */
  close(): Promise<void>;
}
