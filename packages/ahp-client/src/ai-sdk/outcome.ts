import type { JsonObject } from "@harnesskit/protocol/envelope";
import { describeError } from "./describe-error.ts";
import type { Supervision } from "./supervision.ts";

/** How something ended. `cancelled`: its caller gave it up. */
export type Outcome =
  | { readonly outcome: "success"; readonly fields: JsonObject }
  | { readonly outcome: "error" | "cancelled"; readonly fields?: JsonObject; readonly error?: unknown };

/** Tells an outcome; of several the first. */
export type Report = (outcome: Outcome) => void;

/** Begins to measure what a report will tell. */
export const startReport = (
  supervision: Supervision,
  eventType: "post_action" | "post_response",
  subject: JsonObject,
): Report => {
  const { clock, options } = supervision;
  const startedAt = clock.now();
  let isTold = false;
  return (end) => {
    if (isTold) return;
    isTold = true;
    const durationMs = Math.max(0, Math.round(clock.now() - startedAt));
    const error = "error" in end && end.error !== undefined ? end.error : undefined;
    supervision.report(eventType, {
      ...subject,
      outcome: end.outcome,
      duration_ms: durationMs,
      ...end.fields,
      ...(error !== undefined && { error: describeError(error, options.maxReportTextBytes) }),
    });
  };
};
