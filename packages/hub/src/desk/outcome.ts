import type { JsonValue } from "@harnesskit/protocol/envelope";
import { firstLine, textOf } from "./event-text.ts";
import type { EventFacts } from "./read-event.ts";

export type Outcome = { readonly state: "done" | "failed" | "refused" | "unknown"; readonly text?: string };

const failed: ReadonlySet<unknown> = new Set(["error", "failed", "failure", "cancelled", "timeout"]);
const refused: ReadonlySet<unknown> = new Set(["refused", "blocked", "rejected", "denied", "skipped"]);

/** What a `post_action` says of its action: by `outcome` or `status`, `failed`, `success`, `exit_code` or `error`. */
export const reportedOutcome = ({ payload }: Pick<EventFacts, "payload">): Outcome => {
  const { outcome = payload.status, error, exit_code: exit } = payload;
  const words = firstLine(textOf(error ?? payload.reason));
  const text = words === "" ? {} : { text: words };
  if (outcome === "unknown") return { state: "unknown", ...text };
  if (refused.has(outcome)) return { state: "refused", ...text };
  const isFailed =
    failed.has(outcome) ||
    payload.failed === true ||
    payload.success === false ||
    (typeof exit === "number" && exit !== 0) ||
    (outcome === undefined && error !== undefined && error !== null);
  if (!isFailed) return { state: "done", ...text };
  return typeof exit === "number" && words === ""
    ? { state: "failed", text: `exit code ${exit}` }
    : { state: "failed", ...text };
};

/** What a `post_action` says went wrong, whole; undefined where it says nothing. */
export const errorOf = ({
  payload: { error, code },
}: Pick<EventFacts, "payload">):
  | { readonly message: string; readonly code?: string | undefined }
  | undefined => {
  if (error === undefined || error === null) return undefined;
  const message = typeof (error as JsonValue) === "string" ? (error as string) : JSON.stringify(error);
  return { message, code: typeof code === "string" ? code.slice(0, 200) : undefined };
};
