import type { RestartPolicy } from "@harnesskit/protocol/runtime";
import type { LaunchTimes } from "../core-limits.ts";
import type { CoreOptions } from "../core-options.ts";
import type { StartedCore } from "../start-core.ts";
import type { OutputStream } from "./agent-process.ts";
import type { CoreDirectory } from "./core-directory.ts";

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
  /** From 0 to 1, for the waits before restarts. @default Math.random */
  readonly random?: (() => number) | undefined;
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
