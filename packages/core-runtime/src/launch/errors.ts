import { displayText, HarnessError } from "@harnesskit/wire";

const shortText = (text: string): string => displayText(text, { maxLength: 300 });

/**
 * `manifest_not_found`: the directory has none. `manifest_unsafe`: it is a link or no regular file.
 * `manifest_too_large`: it exceeds 256 KiB. `manifest_invalid`: it is not what a manifest is.
 */
export type ManifestErrorCode =
  | "manifest_not_found"
  | "manifest_unsafe"
  | "manifest_too_large"
  | "manifest_invalid";

/** An agent's manifest cannot be used. */
export class ManifestError extends HarnessError<ManifestErrorCode> {
  static override readonly brand = "ManifestError";
  constructor(
    code: ManifestErrorCode,
    readonly path: string,
    reason: string,
    /** The field that is wrong, such as `restart.policy` or `command.0`, where it is one. */
    readonly field?: string,
  ) {
    super(code, `the manifest ${shortText(path)} ${reason}`);
  }
}

/** How an agent's process ended. */
export interface AgentExit {
  /** The exit code, or null when a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it, or null. */
  readonly signal: NodeJS.Signals | null;
}

/** Why an agent does not run, or not as it should. */
export interface AgentReason {
  /**
   * `stopped`: it was asked for. `exited`: the process ended. `command_not_found`, `command_not_executable`,
   * `start_failed`: no process started. `connect_timeout`, `register_timeout`: it said no hello or named no tools in time.
   * `unhealthy`, `disconnected`: its session. `guard_lost`: its guard was killed. `crash_loop`: it was given
   * up.
   */
  readonly code: AgentReasonCode;
  /** For people; safe to show. */
  readonly message: string;
}

export type AgentReasonCode =
  | "stopped"
  | "exited"
  | "command_not_found"
  | "command_not_executable"
  | "start_failed"
  | "connect_timeout"
  | "register_timeout"
  | "unhealthy"
  | "disconnected"
  | "guard_lost"
  | "crash_loop";

/** An agent did not come to serve its tools. */
export class AgentStartError extends HarnessError {
  static override readonly brand = "AgentStartError";
  readonly agentId: string;
  readonly reason: AgentReason;
  /** How its process ended, if there was one and it has ended. */
  readonly exit: AgentExit | undefined;
  /** The last lines of its standard error, bounded, without secrets and with everything invisible or misleading written out. */
  readonly stderrTail: string;

  constructor(agentId: string, reason: AgentReason, exit: AgentExit | undefined, stderrTail = "") {
    const tail = stderrTail === "" ? "" : `; its standard error ends with:\n${stderrTail}`;
    super("agent_start_failed", `the agent ${shortText(agentId)} did not start: ${reason.message}${tail}`);
    this.agentId = agentId;
    this.reason = reason;
    this.exit = exit;
    this.stderrTail = stderrTail;
  }
}

/** Some agents did not come to serve their tools; `errors` has one {@link AgentStartError} for each. */
export class AgentsNotReadyError extends HarnessError {
  static override readonly brand = "AgentsNotReadyError";

  constructor(readonly errors: readonly AgentStartError[]) {
    const names = errors.map((error) => shortText(error.agentId)).join(", ");
    const [first] = errors;
    super("agents_not_ready", `not ready: ${names}. ${first?.message ?? ""}`, { cause: first });
  }
}

/**
 * What a core was asked for cannot be. `agent_exists`: an agent with this id runs, or two directories name the same one.
 * `agent_unknown`: none with this id was launched here. `core_stopped`: the core is closing, and launches nothing more.
 */
export class LaunchError extends HarnessError<"agent_exists" | "agent_unknown" | "core_stopped"> {
  static override readonly brand = "LaunchError";
}

export const agentExists = (agentId: string, directory: string): LaunchError => {
  const agent = `the agent ${shortText(agentId)} of ${shortText(directory)}`;
  return new LaunchError(
    "agent_exists",
    `${agent} is there already: stop it first, or give this one another id`,
  );
};

/** The agent's process was not made (`start_failed`); no process remains. */
export class SpawnError extends HarnessError<"start_failed"> {
  static override readonly brand = "SpawnError";
  constructor(message: string) {
    super("start_failed", message);
  }
}
