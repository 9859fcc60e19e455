import { displayText } from "@harnesskit/wire";

/** How a call ended that has no result. */
export interface CallFailure {
  readonly status: "failed" | "rejected" | "not_run";
  /**
   * That of the `ToolError` where a tool threw one; otherwise `rejected`, `approval.unattended`, `unknown_tool`, `invalid_input`, `approval_undecided`,
   * `tool_failed`, `tool_timed_out`, `tool_cancelled`, `tool_interrupted` or `tool_output_invalid`.
   */
  readonly code: string;
  /** For the model; it may repeat what a tool or a person said. */
  readonly message: string;
}

/** Characters of an error's message that the model receives. */
const maxReasonLength = 2_000;

/** A failure as the content of a tool's message: one JSON object, which {@link failureOfText} recognises. */
export const failureText = ({ status, code, message }: CallFailure): string =>
  JSON.stringify({ status, code, message });

/** The message of an error for the model, without its stack. */
export const reasonText = (error: unknown): string => {
  const text = error instanceof Error ? error.message : typeof error === "string" ? error : "";
  return text.trim() === ""
    ? "it does not say why"
    : displayText(text, { multiline: true, maxLength: maxReasonLength });
};

const statuses = new Set<unknown>(["failed", "rejected", "not_run"]);

/** The failure in a tool's message; undefined for a result. */
export const failureOfText = (text: string): CallFailure | undefined => {
  if (!text.startsWith('{"status":"')) return undefined;
  try {
    const { status, code, message, ...others } = JSON.parse(text) as Record<string, unknown>;
    const isFailure = statuses.has(status) && typeof code === "string" && typeof message === "string";
    const failure = { status, code, message } as CallFailure;
    return isFailure && Object.keys(others).length === 0 && failureText(failure) === text
      ? failure
      : undefined;
  } catch {
    return undefined;
  }
};

/** Stands for the result of a call that waits, for the model. It is never stored. */
export const waitingText = JSON.stringify({
  status: "waiting",
  code: "waiting_for_approval",
  message: "This call waits for the approval of a person. It has not been run.",
});
