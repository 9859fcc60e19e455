import { settleWithin } from "@harnesskit/wire/time";

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
