import type { RestartPolicy } from "@harnesskit/protocol/runtime";
import type { LaunchTimes } from "../core-limits.ts";
import type { CoreOptions } from "../core-options.ts";
import type { AgentStatus } from "../session.ts";
import type { StartedCore } from "../start-core.ts";
import type { OutputStream } from "./agent-process.ts";
import type { CoreDirectory } from "./core-directory.ts";
import type { AgentExit, AgentReasonCode } from "./errors.ts";
import type { AgentPhase } from "./supervision.ts";

/** An agent that a core runs: its process and its session in one. */
export interface LaunchedAgent {
  readonly agentId: string;
  /** `disconnected`: it has no session. */
  readonly status: AgentStatus | "disconnected";
  readonly sessionId?: string | undefined;
  readonly reason?: string | undefined;
  /** Where its manifest is. */
  readonly directory: string;
  readonly state: AgentPhase;
  /** Since when it is in this state, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** What led to this state, unless it was asked for; `reason` says it for people. */
  readonly reasonCode?: AgentReasonCode | undefined;
  /** Starts by the policy since the last one by hand. */
  readonly restarts: number;
  /** When the next one is due; in `backoff`. */
  readonly nextStartMs?: number | undefined;
  /** How the last process that ended did so. */
  readonly lastExit?: AgentExit | undefined;
  /**
   * While it does not run because it failed: the last line of its standard error that names an error, or else the last one, of
   * at most 300 characters. The agent wrote it; secrets, and what is invisible or misleading, are written otherwise.
   */
  readonly errorLine?: string | undefined;
  /** The running process. */
  readonly pid?: number | undefined;
  readonly launchId?: string | undefined;
  readonly agentVersion?: string | undefined;
  /** The tools that it has registered now. */
  readonly toolIds: readonly string[];
  /** Of the manifest by which it runs. */
  readonly manifestHash: string;
}

/** One line that an agent wrote. */
export interface AgentOutput {
  readonly agentId: string;
  readonly launchId: string;
  readonly stream: OutputStream;
  /** Without its end; untrusted. A line longer than `maxOutputLineLength` comes in parts. */
  readonly line: string;
}

/** How agents are started, watched and stopped. */
export interface LaunchOptions extends Partial<LaunchTimes> {
  /** Directories of agents to start, each with its `opensentience.agent.json`. @default [] */
  readonly agents?: readonly string[] | undefined;
  /** Where the private directory of the socket is made. @default `XDG_RUNTIME_DIR`, or the directory for temporary files */
  readonly socketDirectory?: string | undefined;
  /** Of which agents inherit a few names and those of their manifests. @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Overrides the `restart` of the manifests, field by field. @default {} */
  readonly restart?: RestartPolicy | undefined;
  /** Receives each line that an agent writes to its standard output and error: untrusted, and maybe secret. */
  readonly onOutput?: ((output: AgentOutput) => void) | undefined;
}

/** Options of `startCore`. */
export interface StartCoreOptions extends CoreOptions, LaunchOptions {}

/** What all launches of a core share. */
export interface LaunchContext {
  readonly options: StartCoreOptions;
  readonly core: StartedCore;
  readonly directory: CoreDirectory;
  readonly times: LaunchTimes;
}
