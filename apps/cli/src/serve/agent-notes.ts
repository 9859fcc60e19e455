import type { LaunchedAgent } from "@harnesskit/core-runtime";
import { oneLine } from "../terminal/one-line.ts";

const why = ({ reason }: LaunchedAgent): string => (reason === undefined ? "" : ` (${oneLine(reason, 300)})`);

/** Says what became of an agent, where somebody should know; `wasReady` once it has served. */
export const agentNote = (
  agent: LaunchedAgent,
  before: LaunchedAgent["state"] | undefined,
  wasReady: boolean,
): string | undefined => {
  const { state } = agent;
  if (state === before) return undefined;
  const name = `the agent ${agent.agentId}`;
  switch (state) {
    case "ready":
      return wasReady ? `${name} serves again` : undefined;
    case "unhealthy":
      // A session that is over is followed by the end of the process, which is told.
      if (agent.reasonCode === "disconnected") return undefined;
      return `${name} does not answer${why(agent)}`;
    case "backoff":
      return `${name} has ended and is started again${why(agent)}`;
    case "crash_loop":
      return `${name} was given up; the next call starts it again${why(agent)}`;
    case "stopped":
      return `${name} has ended; the next call starts it again${why(agent)}`;
    default:
      return undefined;
  }
};
