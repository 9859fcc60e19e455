import { displayText } from "@harnesskit/wire";
import type { LaunchedAgent } from "../launch/launched-agent.ts";

/** A change of an agent that the user should know of, as one safe line. */
export const noteOfAgent = (
  { agentId, state, reason, reasonCode, errorLine }: LaunchedAgent,
  wasReady: boolean,
): string | undefined => {
  const last = errorLine === undefined ? "" : `: ${errorLine}`;
  const why = reason === undefined ? "" : ` (${displayText(reason, { maxLength: 300 })}${last})`;
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

/** Why a turn goes on without the tools of an agent. */
export const noteOfMissingTools = (
  agentId: string,
  status: "done" | "failed" | "timed_out",
  timeoutMs: number,
): string => {
  const why = {
    done: "has no tools",
    failed: "did not start",
    timed_out: `is not ready after ${timeoutMs / 1000} s`,
  };
  return `the agent ${agentId} ${why[status]}; the conversation goes on without its tools`;
};
