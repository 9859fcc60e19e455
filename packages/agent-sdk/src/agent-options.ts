import { AgentIdSchema, SemanticVersionSchema } from "@harnesskit/protocol/runtime";
import { type Clock, type HarnessError, InvalidArgumentError, systemClock } from "@harnesskit/wire";
import type { RejectedTool } from "./errors.ts";
import { type AgentLimits, toAgentLimits } from "./limits.ts";
import { type MeasureLoopLag, measureLoopLag } from "./loop-lag.ts";
import type { Tool } from "./tool.ts";

export interface AgentOptions {
  /** As the manifest has it: letters, digits, `.`, `_` and `-`, up to 128, with a letter or digit first. */
  readonly id: string;
  /** Semantic version of the agent, such as `1.4.0`. */
  readonly version: string;
  /** @default none; see `register` */
  readonly tools?: readonly Tool[];
  /** What the agent may use at the most. */
  readonly limits?: Partial<AgentLimits>;
  /**
   * Told what went wrong beside the results: a tool's own exception, a rejected tool, a stray failure.
   * @default nobody; `run` writes a line to stderr for each
   */
  readonly onError?: (error: HarnessError) => void;
  /**
   * Told of the tools that the core did not take. What it throws goes to `onError`.
   * @default `connect` rejects if it took none; else `onError` is told
   */
  readonly onRejected?: (rejected: readonly RejectedTool[]) => void;
  /** Puts name and message of a tool's own exception into `error.debug`; they must be free of secrets. @default false */
  readonly debug?: boolean;
  /** How long an aborted tool may take to end before its result is sent without it. @default 2000 */
  readonly cancelGraceMs?: number;
  /** How long the core may take to answer `agent.hello`. @default 10000 */
  readonly welcomeTimeoutMs?: number;
  /** How long the core may take to answer a registration. @default 10000 */
  readonly registerTimeoutMs?: number;
  /** How long the core may take to close after `core.goodbye` before the agent does. @default 5000 */
  readonly goodbyeTimeoutMs?: number;
  /** Delay of timers from which on heartbeats say `degraded`. @default 500 */
  readonly degradedLagMs?: number;
  /** Puts outputs above `maxToolOutputBytes` into files; otherwise they fail. @default true */
  readonly outputFiles?: boolean;
  /** Where the private directory of output files is made. @default the system's directory for temporary files */
  readonly outputDirectory?: string;
  /** Leaves the output files there when the agent ends. @default false */
  readonly keepOutputFiles?: boolean;
  /** `sha256:` and the hex digest of the manifest's bytes. @default `run` reads the manifest in the working directory */
  readonly manifestHash?: string;
  /** For tests. @default the real time */
  readonly clock?: Clock;
  /** For tests. @default Node's monitor of the event loop */
  readonly measureLoopLag?: MeasureLoopLag;
}

type Defaulted =
  | "tools"
  | "debug"
  | "cancelGraceMs"
  | "welcomeTimeoutMs"
  | "registerTimeoutMs"
  | "goodbyeTimeoutMs"
  | "degradedLagMs"
  | "outputFiles"
  | "keepOutputFiles"
  | "clock"
  | "measureLoopLag";

export type AgentSettings = Omit<AgentOptions, Defaulted | "limits"> &
  Required<Pick<AgentOptions, Defaulted>> & { readonly limits: AgentLimits };

const times = [
  "cancelGraceMs",
  "welcomeTimeoutMs",
  "registerTimeoutMs",
  "goodbyeTimeoutMs",
  "degradedLagMs",
] as const;

/** The options with their defaults. Throws `invalid_argument` for what cannot be used. */
export const toAgentSettings = (options: AgentOptions): AgentSettings => {
  if (!AgentIdSchema.safeParse(options.id).success) {
    throw new InvalidArgumentError("an agent's id has letters, digits, ., _ and -, up to 128, and no slash");
  }
  if (!SemanticVersionSchema.safeParse(options.version).success) {
    throw new InvalidArgumentError(
      "version must be a semantic version of up to 256 characters, such as 1.4.0 or 2.0.0-rc.1",
    );
  }
  for (const name of times) {
    const value = options[name];
    if (value !== undefined && !(Number.isFinite(value) && value >= 0)) {
      throw new InvalidArgumentError(`${name} is a number of milliseconds`);
    }
  }
  return {
    ...options,
    tools: options.tools ?? [],
    limits: toAgentLimits(options.limits),
    debug: options.debug ?? false,
    cancelGraceMs: options.cancelGraceMs ?? 2000,
    welcomeTimeoutMs: options.welcomeTimeoutMs ?? 10_000,
    registerTimeoutMs: options.registerTimeoutMs ?? 10_000,
    goodbyeTimeoutMs: options.goodbyeTimeoutMs ?? 5000,
    degradedLagMs: options.degradedLagMs ?? 500,
    outputFiles: options.outputFiles ?? true,
    keepOutputFiles: options.keepOutputFiles ?? false,
    clock: options.clock ?? systemClock,
    measureLoopLag: options.measureLoopLag ?? measureLoopLag,
  };
};
