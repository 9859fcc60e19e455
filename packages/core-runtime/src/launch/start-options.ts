import type { RestartPolicy } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { AgentOutput } from "./agent-run.ts";
import type { ReadManifest } from "./read-manifest.ts";
import { restartSettings } from "./restart-policy.ts";
import type { SupervisionSettings } from "./supervision.ts";

/** How agents are started, watched and ended. Times in milliseconds. */
export interface LaunchOptions {
  /** Directories of agents to start, each with its `opensentience.agent.json`. @default [] */
  readonly agents?: readonly string[];
  /** Where the private directory of the socket is made. @default `XDG_RUNTIME_DIR`, or the directory for temporary files */
  readonly socketDirectory?: string;
  /** Of which agents inherit a few names and those of their manifests. @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Holds before the `restart` of the manifests, field by field. @default {} */
  readonly restart?: RestartPolicy;
  /** Gets each line that an agent writes to its standard output and error: untrusted, and maybe secret. What it throws is ignored. */
  readonly onOutput?: (output: AgentOutput) => void;
  /** From 0 to 1, for the waits before restarts. @default Math.random */
  readonly random?: () => number;
  /** From the start of a process to its hello. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** From the hello to the first registration of tools. @default 10000 */
  readonly registerTimeoutMs?: number;
  /** How long a process whose session ended may take to exit before it is killed. @default 1000 */
  readonly reconnectTimeoutMs?: number;
  /** How long an agent may be unhealthy before it is killed. @default 5000 */
  readonly unhealthyTimeoutMs?: number;
  /** How long an agent that is to end may take for the calls that it has. @default 10000 */
  readonly drainTimeoutMs?: number;
  /** How long an agent may take to exit after the goodbye before it gets SIGTERM. @default 500 */
  readonly goodbyeGraceMs?: number;
  /** How long an agent may take to exit after SIGTERM before it is killed. @default 5000 */
  readonly stopGraceMs?: number;
  /** How long a guard may take before the core does its work, and a killed process before it is given up. @default 5000 */
  readonly killTimeoutMs?: number;
  /** How long to wait for the last output of a process that has ended. @default 500 */
  readonly outputTimeoutMs?: number;
  /** Agents of this core, those at rest included. @default 256 */
  readonly maxAgents?: number;
  /** Bytes of a manifest. @default 262144 */
  readonly maxManifestBytes?: number;
  /** Characters of a line for `onOutput`; a longer one comes in parts. @default 8192 */
  readonly maxOutputLineLength?: number;
  /** Bytes of the end of each agent's standard error that are kept for errors. @default 8192 */
  readonly maxStderrBytes?: number;
}

const defaults = {
  connectTimeoutMs: 10_000,
  registerTimeoutMs: 10_000,
  reconnectTimeoutMs: 1000,
  unhealthyTimeoutMs: 5000,
  drainTimeoutMs: 10_000,
  goodbyeGraceMs: 500,
  stopGraceMs: 5000,
  killTimeoutMs: 5000,
  outputTimeoutMs: 500,
  maxAgents: 256,
  maxManifestBytes: 262_144,
  maxOutputLineLength: 8192,
  maxStderrBytes: 8192,
};

/** Every number with its value. */
export type LaunchNumbers = typeof defaults;

/** The numbers of the options. Throws `invalid_argument` for one that is none. */
export const launchNumbers = (options: LaunchOptions): LaunchNumbers => {
  const numbers = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof LaunchNumbers)[]) {
    const value = options[name] ?? defaults[name];
    const least = name.startsWith("max") ? 1 : 0;
    if (!Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`${name} is a whole number from ${least}`);
    }
    numbers[name] = value;
  }
  return numbers;
};

/** How one agent is supervised. */
export const supervisionSettings = (
  numbers: LaunchNumbers,
  owner: RestartPolicy | undefined,
  { manifest }: ReadManifest,
): SupervisionSettings => ({ ...numbers, restart: restartSettings(owner, manifest.restart) });
