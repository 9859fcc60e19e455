import { HubError } from "@harnesskit/hub/client";
import { HarnessError } from "@harnesskit/wire";
import { formatSpan, line } from "../format.ts";

const refusals: Readonly<Record<string, string>> = {
  already_answered: "Another answer was first.",
  wrong_digest: "This is not the action that was shown. Open it again.",
  expired: "It has expired.",
  withdrawn: "The agent has withdrawn it.",
  grant_mismatch: "This grant does not cover the action, so nothing was answered.",
  preview_cut: "Part of the action is not shown, so it cannot be allowed for always.",
  approval_not_found: "This approval is not kept, or was never there.",
  policy_changed: "The policy's file was changed meanwhile. Load this page again, and make the change anew.",
  row_not_found: "This row is not kept, or was never there.",
};

/** Whether the hub gave no answer: the connection was lost, or the answer is late. The call may have been done. */
export const isLost = (error: unknown): boolean =>
  HarnessError.isInstance(error) && ["connection_closed", "request_timeout"].includes(error.code);

/** A failure in words, safe to show. */
export const failureText = (error: unknown): string => {
  if (!HubError.isInstance(error)) return line(error instanceof Error ? error.message : String(error));
  if (error.code === "rate_limited") {
    const when = formatSpan(Math.max(1000, error.retryAfterMs ?? 0));
    return `Too many answers in a short time. Try again in ${when}.`;
  }
  return refusals[error.code] ?? line(error.message);
};
