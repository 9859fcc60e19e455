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

/** Says that what a turn was shown of an agent is out of date. */
export const changedToolsNote = (agentId: string): string =>
  `the agent ${agentId} has other tools than when it last ran: the next turn has them; a call of a changed one is refused`;
