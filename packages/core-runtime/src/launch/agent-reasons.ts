import { systemErrorCode } from "@harnesskit/node-kit";
import { HarnessError } from "@harnesskit/wire";
import type { AgentEnd } from "./agent-process.ts";
import { type AgentReason, SpawnError } from "./errors.ts";

/** Why there was no process. */
export const spawnReason = (cause: unknown): AgentReason => {
  if (cause instanceof SpawnError) return { code: cause.code, message: cause.message };
  const why = HarnessError.isInstance(cause) ? cause.message : (systemErrorCode(cause) ?? "unknown");
  return { code: "start_failed", message: `its process could not be started (${why})` };
};

/** What says better than the exit of a process why it ended. */
export const endReason = ({ guardLost, notExecuted }: AgentEnd): AgentReason | undefined => {
  if (guardLost) return { code: "guard_lost", message: "its guard was killed, so that it was killed too" };
  if (notExecuted === undefined) return undefined;
  return { code: "start_failed", message: `the system could not run its command: ${notExecuted}` };
};
