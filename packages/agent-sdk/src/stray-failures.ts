import type { AgentCore } from "./agent-core.ts";
import { StrayFailureError } from "./errors.ts";
import { callScope } from "./tool-call.ts";

/**
 * Handles uncaught exceptions and unhandled rejections: the call whose tool caused them fails; the process goes on. Those
 * of no call are reported. Returns what restores the process's own behaviour.
 */
export const catchStrayFailures = (core: AgentCore): (() => void) => {
  const caught = (cause: unknown) => {
    const call = callScope.getStore();
    if (call && !call.isSettled) call.failStray(cause);
    else core.report(new StrayFailureError(call?.tool.name, { cause }));
  };
  process.on("uncaughtException", caught);
  process.on("unhandledRejection", caught);
  return () => {
    process.off("uncaughtException", caught);
    process.off("unhandledRejection", caught);
  };
};
