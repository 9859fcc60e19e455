import type { EventBody, TurnResult } from "@harnesskit/thread-client";
import { ExitCode } from "../exit-code.ts";

/** Codes of a turn's error that say the model cannot be had. */
const unavailable = new Set(["model_unavailable", "model_rate_limited", "model_not_found", "server_closed"]);

/** Counts what the agent wanted and did not get. */
export class RefusedCalls {
  rejected = 0;
  blocked = 0;

  observe(event: EventBody): void {
    if (event.type !== "item.completed" || event.data.item.type !== "tool_exec") return;
    const status = event.data.item.data?.status;
    if (status === "rejected") this.rejected++;
    if (status === "blocked") this.blocked++;
  }

  get any(): boolean {
    return this.rejected + this.blocked > 0;
  }
}

/** The exit code of a turn that has ended. */
export const exitCodeOf = (result: TurnResult, refused: RefusedCalls): ExitCode => {
  if (result.status === "cancelled") return ExitCode.failed;
  if (result.status === "error") {
    if (result.code === "model_unauthorized") return ExitCode.refused;
    return unavailable.has(result.code) ? ExitCode.unavailable : ExitCode.failed;
  }
  return refused.any ? ExitCode.refused : ExitCode.done;
};
