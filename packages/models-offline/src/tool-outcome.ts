import { stringOf, toFields } from "./tool-values.ts";

/**
 * How a tool call ended. `ok` has its value; every other status says the reason in `reason`, and has in `value`
 * what the tool had produced by then, if anything.
 *
 * - `failed`: the tool could not do it
 * - `rejected`: it was not approved; the reason says by whom
 * - `blocked`: a policy forbade it
 * - `forbidden`: the tool's agent was not granted what it needs
 * - `cancelled`: it was stopped
 * - `timeout`: it took too long
 * - `unknown`: it may or may not have happened
 * - `unavailable`: there is no such tool here
 */
export interface ToolOutcome {
  readonly status:
    | "ok"
    | "failed"
    | "rejected"
    | "blocked"
    | "forbidden"
    | "cancelled"
    | "timeout"
    | "unknown"
    | "unavailable";
  readonly value?: unknown;
  readonly reason?: string;
}

const maxReasonChars = 500;

/**
 * Reads the output of a tool-result part in any of the AI SDK's forms, and in none of them. Never throws. The text
 * of a result decides only how its end is worded, never what is done.
 */
export function toToolOutcome(output: unknown): ToolOutcome {
  const { type, value, reason } = toFields(output);
  switch (type) {
    case "text":
    case "json":
      return ofValue(value);
    case "content":
      return ofValue(contentText(value));
    case "error-text":
    case "error-json":
      return ofError(value);
    case "execution-denied":
      return {
        status: /\bpolicy\b|\bblocked\b/i.test(stringOf(reason, maxReasonChars)) ? "blocked" : "rejected",
        ...withReason(reason),
      };
    default:
      return ofValue(output);
  }
}

/** A tool may also answer with an error object as its value. */
function ofValue(value: unknown): ToolOutcome {
  const { isError, error } = toFields(value);
  if (typeof error === "object" && error !== null && !Array.isArray(error)) return ofError(error);
  return isError === true ? ofError(value) : { status: "ok", value };
}

function contentText(value: unknown): string {
  return (Array.isArray(value) ? value.slice(0, 100) : [])
    .map(toFields)
    .map(({ type, text }) => (type === "text" ? stringOf(text) : ""))
    .filter((text) => text !== "")
    .join("\n");
}

function withReason(value: unknown): { readonly reason?: string } {
  const reason = stringOf(value, maxReasonChars);
  return reason === "" ? {} : { reason };
}

function ofError(value: unknown): ToolOutcome {
  const { status, code, kind, message, reason, error, output, partial } = toFields(value);
  const codes = [status, code, kind].filter((each) => typeof each === "string").join(" ");
  return {
    status: words.find(([pattern]) => pattern.test(codes))?.[1] ?? "failed",
    ...withReason(typeof value === "string" ? value : (message ?? reason ?? error)),
    value: output ?? partial,
  };
}

/** What codes say of an end. A text may hold these words for another reason, and is shown as it is. */
const words: readonly (readonly [pattern: RegExp, status: ToolOutcome["status"]])[] = [
  [/cancel|abort/i, "cancelled"],
  [/reject|denied|declined/i, "rejected"],
  [/block|policy/i, "blocked"],
  [/forbidden|directive_required/i, "forbidden"],
  [/time_?d?_?out/i, "timeout"],
  [/\bunknown\b/i, "unknown"],
];
