import type { EventBody, TurnResult } from "@harnesskit/thread-client";
import { undecidedCodes } from "@harnesskit/thread-server";
import { ExitCode } from "../exit-code.ts";
import { interruptedExitCode } from "../interruption.ts";

/** Codes of a turn's error that say the model, or who judges, cannot be had. */
const unavailable: ReadonlySet<string> = new Set([
  "model_unavailable",
  "model_rate_limited",
  "model_not_found",
  "server_closed",
  "gate_failed",
  undecidedCodes.timeout,
  undecidedCodes.unavailable,
]);

/** Codes of a turn's error that say that somebody did not want it. */
const refusals: ReadonlySet<string> = new Set([
  "model_unauthorized",
  "policy.blocked",
  "policy.deferred",
  "policy.invalid_change",
  "prompt.blocked",
  "prompt.rejected",
  "approval.unattended",
  "approval.expired",
]);

/** Counts what the agent wanted and did not get. */
export class RefusedCalls {
  rejected = 0;
  blocked = 0;
  /** Blocked because nobody could judge them. */
  unjudged = 0;

  observe(event: EventBody): void {
    if (event.type !== "item.completed" || event.data.item.type !== "tool_exec") return;
    const { status, code = "" } = event.data.item.data ?? {};
    if (status === "rejected") this.rejected++;
    if (status !== "blocked") return;
    if (unavailable.has(code)) this.unjudged++;
    else this.blocked++;
  }

  get any(): boolean {
    return this.rejected + this.blocked > 0;
  }
}

/** The exit code of a turn that has ended. */
export const exitCodeOf = (result: TurnResult, refused: RefusedCalls): ExitCode => {
  const interrupted = interruptedExitCode();
  if (interrupted !== undefined) return interrupted;
  if (result.status === "cancelled") return ExitCode.failed;
  if (result.status === "error") {
    if (refusals.has(result.code)) return ExitCode.refused;
    return unavailable.has(result.code) ? ExitCode.unavailable : ExitCode.failed;
  }
  if (refused.any) return ExitCode.refused;
  return refused.unjudged > 0 ? ExitCode.unavailable : ExitCode.done;
};
