import { displayText } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
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

/** How long a turn waits for an agent that names no other time; after as much, a longer wait is noted. */
const defaultStartMs = 5_000;

export interface AwaitToolsOptions {
  readonly ready: () => Promise<unknown>;
  readonly hasTools: () => boolean;
  /** @default 5000 */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly note: (line: string) => unknown;
}

/** Waits for the tools of an agent, and notes why a turn goes on without them. True where it came too late, failed or has none. */
export const awaitTools = async (agentId: string, options: AwaitToolsOptions): Promise<boolean> => {
  const { ready, hasTools, timeoutMs = defaultStartMs, signal, note } = options;
  const slow = `the agent ${agentId} is still starting, and may take up to ${timeoutMs / 1000} s`;
  const isLong = timeoutMs > defaultStartMs;
  const slowTimer = isLong ? setTimeout(() => note(slow), defaultStartMs) : undefined;
  const { status } = await settleWithin(ready(), { name: "agent.ready", timeoutMs, signal });
  clearTimeout(slowTimer);
  if (status === "cancelled" || hasTools()) return false;
  const why = {
    done: "has no tools",
    failed: "did not start",
    timed_out: `is not ready after ${timeoutMs / 1000} s`,
  };
  note(`the agent ${agentId} ${why[status]}; the conversation goes on without its tools`);
  return true;
};
