import type { AgentCore } from "./agent-core.ts";
import { callScope } from "./call-scope.ts";
import { StrayFailureError } from "./errors.ts";

/**
 * Takes exceptions and rejections that nobody caught: the call whose tool left them behind fails; the process goes on.
 * What belongs to no call is reported. Returns what gives the process's own behaviour back.
 */
export const catchStrayFailures = (core: AgentCore): (() => void) => {
  const caught = (cause: unknown) => {
    const call = callScope.getStore();
    if (call && !call.isSettled) call.failStray(cause);
    else core.report(new StrayFailureError(call?.tool.name, { cause }));
  };
  core.attributing++;
  process.on("uncaughtException", caught);
  process.on("unhandledRejection", caught);
  return () => {
    core.attributing--;
    process.off("uncaughtException", caught);
    process.off("unhandledRejection", caught);
  };
};
