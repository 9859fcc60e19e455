import type { TurnResult } from "@harnesskit/thread-client";
import { undecidedCodes } from "@harnesskit/thread-server";
import { ExitCode } from "../exit-code.ts";
import { interruptedExitCode } from "../interruption.ts";
import type { RefusedCalls } from "../timeline/refused-calls.ts";

/** How a turn that ended with an error reads, by the error's code. */
const words: Readonly<Record<string, { readonly word: string; readonly exitCode: ExitCode }>> = {
  model_unauthorized: { word: "refused", exitCode: ExitCode.refused },
  "policy.blocked": { word: "blocked by the policy", exitCode: ExitCode.refused },
  "policy.deferred": { word: "blocked by the policy for now", exitCode: ExitCode.refused },
  "policy.invalid_change": { word: "blocked", exitCode: ExitCode.refused },
  "prompt.blocked": { word: "blocked by the policy", exitCode: ExitCode.refused },
  "prompt.rejected": { word: "refused", exitCode: ExitCode.refused },
  "approval.unattended": { word: "not approved", exitCode: ExitCode.refused },
  "approval.expired": { word: "timed out", exitCode: ExitCode.refused },
  model_unavailable: { word: "unavailable", exitCode: ExitCode.unavailable },
  model_rate_limited: { word: "unavailable", exitCode: ExitCode.unavailable },
  model_not_found: { word: "unavailable", exitCode: ExitCode.unavailable },
  server_closed: { word: "interrupted", exitCode: ExitCode.unavailable },
  gate_failed: { word: "unavailable", exitCode: ExitCode.unavailable },
  [undecidedCodes.timeout]: { word: "timed out", exitCode: ExitCode.unavailable },
  [undecidedCodes.unavailable]: { word: "unavailable", exitCode: ExitCode.unavailable },
};

/** The word for a turn that ended with an error. */
export const errorWord = (code: string | undefined): string => words[code ?? ""]?.word ?? "failed";

/** The exit code of a turn that has ended. */
export const exitCodeOf = (result: TurnResult, refused: RefusedCalls): ExitCode => {
  const interrupted = interruptedExitCode();
  if (interrupted !== undefined) return interrupted;
  if (result.status === "cancelled") return ExitCode.failed;
  if (result.status === "error") return words[result.code]?.exitCode ?? ExitCode.failed;
  if (refused.any) return ExitCode.refused;
  return refused.unjudged ? ExitCode.unavailable : ExitCode.done;
};
