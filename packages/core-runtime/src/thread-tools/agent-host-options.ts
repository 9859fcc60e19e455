import type { AuditSink } from "@harnesskit/audit";
import { callSafely } from "@harnesskit/wire";
import type { Authorize } from "../authorize.ts";
import type { CoreLimits } from "../core-limits.ts";
import type { StartCoreOptions } from "../launch/launch-options.ts";
import type { GrantStore } from "../permissions/grants.ts";
import type { KnownToolsStore } from "./known-tools.ts";
import type { ToolHost } from "./tool-host.ts";

/** An agent that a host starts. */
export interface HostedAgent {
  readonly agentId: string;
  /** The directory of the agent's manifest. */
  readonly directory: string;
  /** For this agent in place of the host's `startTimeoutMs`: what its manifest has as `start_timeout_ms`. */
  readonly startTimeoutMs?: number | undefined;
}

export interface AgentHostOptions {
  /** Whose ids are different. */
  readonly agents: readonly HostedAgent[];
  readonly limits?: Partial<CoreLimits> | undefined;
  /** What the agents may do beyond reading. @default nothing */
  readonly grants?: GrantStore | undefined;
  /** The operator's command for grants, which refusals name as advice. @default they name a function of this package */
  readonly operatorCommand?: string | undefined;
  /** What the agents and, in part, their commands inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The version that the core reports to the agents. */
  readonly version: string;
  /** Decides about each call before it is sent, in place of `grants`. @default by `grants` */
  readonly authorize?: Authorize | undefined;
  /**
   * What the agents declared when they last ran. `tools` shows it without waiting; such agents start one after the other, or
   * when they are called first. A call is bound to what was shown. @default none: `tools` waits for each agent
   */
  readonly knownTools?: KnownToolsStore | undefined;
  /** How long `tools` waits for an agent whose tools are not known, in milliseconds. @default 5000 */
  readonly startTimeoutMs?: number | undefined;
  /** Opens the audit log of the core, which the host closes. @default no log */
  readonly openAudit?: (() => Promise<AuditSink | undefined>) | undefined;
  /** Called with one safe line when an agent's state changes. @default ignored */
  readonly onNote?: ((line: string) => void) | undefined;
  /** Called with each line of an agent's standard error. Untrusted. @default ignored */
  readonly onOutput?: ((line: string, agentId: string) => void) | undefined;
  /** Reports what fails behind the callers. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const heartbeatIntervalMs = 2_000;
const unhealthyTimeoutMs = 4_000;

/** How a host starts its core. */
export const coreOptionsOf = (
  { limits, grants, authorize, environment, version, operatorCommand, onOutput, onError }: AgentHostOptions,
  audit: AuditSink | undefined,
): StartCoreOptions => ({
  environment,
  coreVersion: version,
  operatorCommand,
  heartbeatIntervalMs,
  unhealthyTimeoutMs,
  limits,
  grants,
  authorize,
  audit,
  onError: onError ? (error) => callSafely(() => onError(error)) : undefined,
  onOutput: onOutput ? ({ line, agentId }) => onOutput(line, agentId) : undefined,
});

/** Runs agents, and calls their tools. */
export interface AgentHost extends ToolHost, AsyncDisposable {
  /** Settles when the agents are being started. A failure is reported to `onError`, and the next call tries again. */
  start(): Promise<void>;
  /** Ends the agents with everything that they run, and the core. */
  close(): Promise<void>;
}
