import type { JsonObject } from "@harnesskit/protocol/envelope";
import { AgentIdSchema, SemanticVersionSchema } from "@harnesskit/protocol/runtime";
import { checkNumber, type HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { type Clock, systemClock } from "@harnesskit/wire/time";
import type { RejectedTool } from "./errors.ts";
import { type AgentLimits, agentLimits } from "./limits.ts";
import type { Tool } from "./tool.ts";

/** How an agent is, in its own judgement (section 4.5.1). */
export interface AgentHealth {
  readonly status: "ok" | "degraded" | "unhealthy";
  /** Short facts, free of secrets, that go along with the heartbeat. */
  readonly details?: JsonObject | undefined;
}

export interface AgentOptions {
  /** As in the manifest: letters, digits, `.`, `_` and `-`, up to 128, with a letter or digit first. */
  readonly id: string;
  /** Semantic version of the agent, such as `1.4.0`. */
  readonly version: string;
  /** @default none; see `register` */
  readonly tools?: readonly Tool[] | undefined;
  /** What the agent may use at the most. @default each as `AgentLimits` states */
  readonly limits?: Partial<AgentLimits> | undefined;
  /**
   * Receives failures outside the results: a tool's own exception, a rejected tool, a stray failure.
   * @default ignored; `run` writes a line to stderr for each
   */
  readonly onError?: ((error: HarnessError) => void) | undefined;
  /**
   * Receives the tools that the core rejected; the agent is ready when it has settled, so that it may register others in their
   * place. What it throws goes to `onError`.
   * @default `connect` rejects if the core took none; else `onError` receives them
   */
  readonly onRejected?: ((rejected: readonly RejectedTool[]) => unknown) | undefined;
  /** Puts outputs above `maxToolOutputBytes` into files; otherwise they fail. @default true */
  readonly outputFiles?: boolean | undefined;
  /**
   * Asked before each heartbeat; the heartbeat reports the worse of this and what the SDK measures. A core sends no
   * calls to an agent that is `unhealthy`, and may restart it. What it throws goes to `onError`, and counts as `degraded`.
   * @default ok
   */
  readonly health?: (() => AgentHealth) | undefined;
  /** How long an aborted tool may take to end before its result is sent without it, in milliseconds. @default 2000 */
  readonly cancelGraceMs?: number | undefined;
  /** For tests. @default the real time */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults. */
export interface AgentSettings extends AgentOptions {
  readonly cancelGraceMs: number;
  readonly limits: AgentLimits;
  readonly clock: Clock;
}

/** Throws `invalid_argument` for what cannot be used. */
export const toAgentSettings = (options: AgentOptions): AgentSettings => {
  if (!AgentIdSchema.safeParse(options.id).success) {
    throw new InvalidArgumentError(
      "id must have letters, digits, ., _ and -, up to 128, with a letter or digit first",
    );
  }
  if (!SemanticVersionSchema.safeParse(options.version).success) {
    throw new InvalidArgumentError(
      "version must be a semantic version of up to 256 characters, such as 1.4.0 or 2.0.0-rc.1",
    );
  }
  return {
    ...options,
    clock: options.clock ?? systemClock,
    cancelGraceMs: checkNumber("cancelGraceMs", options.cancelGraceMs ?? 2000, { min: 0 }),
    limits: agentLimits.resolve(options.limits),
  };
};
