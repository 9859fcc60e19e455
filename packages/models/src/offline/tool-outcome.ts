import { maxResultChars } from "./limits.ts";

/**
 * How a tool call ended. `ok` has its value; every other status says in `reason` what was told, and has in `value`
 * what the tool had produced by then, if anything.
 *
 * - `failed`: the tool could not do it; `notFound` if because something is not there
 * - `rejected`: it was not approved; the reason says by whom
 * - `blocked`: a policy forbade it
 * - `cancelled`: it was stopped
 * - `timeout`: it took too long
 * - `unknown`: nobody knows whether it happened
 * - `unavailable`: there is no such tool here
 */
export interface ToolOutcome {
  readonly status:
    | "ok"
    | "failed"
    | "rejected"
    | "blocked"
    | "cancelled"
    | "timeout"
    | "unknown"
    | "unavailable";
  readonly value?: unknown;
  readonly reason?: string;
  readonly notFound?: boolean;
}

const maxReasonChars = 500;

/**
 * Reads the output of a tool-result part in any of the AI SDK's forms, and in none of them. Never throws. The text
 * of a result decides only how its end is worded, never what is done.
 */
export function toToolOutcome(output: unknown): ToolOutcome {
  if (!isRecord(output)) return succeeded(output);
  const { type, value } = output;
  switch (type) {
    case "text":
    case "json":
      return succeeded(value);
    case "content":
      return succeeded(contentText(value));
    case "error-text":
      return failure(value);
    case "error-json":
      return failure(value);
    case "execution-denied": {
      const reason = textOf(output.reason);
      const status = /\bpolicy\b|\bblocked\b/i.test(reason) ? "blocked" : "rejected";
      return { status, ...(reason === "" ? {} : { reason }) };
    }
    default:
      return succeeded(output);
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function succeeded(value: unknown): ToolOutcome {
  // A tool may also answer with an error object as its value.
  if (isRecord(value) && (value.isError === true || isRecord(value.error))) {
    return failure(isRecord(value.error) ? value.error : value);
  }
  return { status: "ok", value };
}

function contentText(value: unknown): string {
  if (!Array.isArray(value)) return "";
  return value
    .slice(0, 100)
    .map((part) => (isRecord(part) && part.type === "text" ? textOf(part.text, maxResultChars) : ""))
    .filter((text) => text !== "")
    .join("\n");
}

function failure(value: unknown): ToolOutcome {
  const record = isRecord(value) ? value : {};
  const reason = textOf(
    typeof value === "string" ? value : (record.message ?? record.reason ?? record.error),
  );
  const codes = [record.status, record.code, record.kind]
    .filter((code) => typeof code === "string")
    .join(" ");
  const notFound =
    /not_found|ENOENT/i.test(codes) || /\bENOENT\b|no such file|not found|does not exist/i.test(reason);
  const status = fromCodes(codes) ?? (notFound ? "failed" : fromReason(reason));
  const partial = record.output ?? record.partial;
  return {
    status,
    ...(reason === "" ? {} : { reason }),
    ...(notFound && status === "failed" ? { notFound } : {}),
    ...(partial === undefined ? {} : { value: partial }),
  };
}

function fromCodes(codes: string): ToolOutcome["status"] | undefined {
  if (/cancel|abort/i.test(codes)) return "cancelled";
  if (/reject|denied|declined/i.test(codes)) return "rejected";
  if (/block|policy|forbidden/i.test(codes)) return "blocked";
  if (/time_?d?_?out/i.test(codes)) return "timeout";
  if (/\bunknown\b/i.test(codes)) return "unknown";
  return undefined;
}

/** Cautious, because a file's name or a system error ("permission denied") may hold these words too. */
function fromReason(reason: string): ToolOutcome["status"] {
  const start = reason.slice(0, 200);
  if (/\bblocked\b|\bby (?:the |a )?policy\b/i.test(start)) return "blocked";
  if (
    /\b(?:rejected|denied|declined|refused)\b.{0,20}\buser\b|\buser\b.{0,20}\b(?:rejected|denied|declined|refused)\b/i.test(
      start,
    )
  ) {
    return "rejected";
  }
  if (/\b(?:cancell?ed|aborted)\b/i.test(start)) return "cancelled";
  if (/\btimed out\b|\btimeout\b/i.test(start)) return "timeout";
  return "failed";
}

function textOf(value: unknown, maxChars = maxReasonChars): string {
  return typeof value === "string" ? value.slice(0, maxChars) : "";
}
