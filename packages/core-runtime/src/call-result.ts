import type { Redactor } from "@harnesskit/audit";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import {
  type AgentToolResult,
  OutputReferenceSchema,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import { jsonProblem } from "@harnesskit/wire/json";
import type { CoreContext } from "./core-context.ts";
import { checkValue, type RegisteredTool, type ValidationProblem } from "./judge-tool.ts";

const redactedValue = (value: JsonValue, redactor: Redactor): JsonValue => {
  if (typeof value === "string") return redactor.text(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? value.map((entry) => redactedValue(entry, redactor))
    : redactedJson(value, redactor);
};

/** The object without what looks like a secret in its strings; the same object if it holds nothing but numbers and flags. */
export const redactedJson = (value: JsonObject, redactor: Redactor): JsonObject => {
  let redacted = value;
  for (const key of Object.keys(value)) {
    const entry = value[key] as JsonValue;
    const kept = redactedValue(entry, redactor);
    if (kept === entry) continue;
    if (redacted === value) redacted = { ...value };
    redacted[key] = kept;
  }
  return redacted;
};

/** What the agent says of the run beside its outcome (section 4.3.3). Absent where it says nothing. */
export interface CallReport {
  /** RFC 3339, by the agent's clock. */
  readonly started_at?: string | undefined;
  readonly finished_at?: string | undefined;
  /** Durations and counts, with at most `maxErrorBytes`. */
  readonly metrics?: JsonObject | undefined;
}

/** How a call ended. What an agent reported and what the core decided have the same form. */
export type CallResult = CallReport &
  (
    | { readonly status: "succeeded"; readonly output: JsonObject }
    | { readonly status: "failed" | "canceled"; readonly error: RuntimeError }
  );

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const maxMessageLength = 4096;

/** An outcome that the core decides. */
export const coreResult = (
  code: RuntimeErrorCode,
  message: string,
  extra: { readonly retryable?: boolean; readonly details?: JsonObject | undefined } = {},
): CallResult => ({
  status: code === RuntimeErrorCode.Canceled ? "canceled" : "failed",
  error: { code, message, where: "core", ...extra },
});

/** An input or output that does not match its schema. */
export const misfit = (
  code: RuntimeErrorCode,
  side: "input" | "output",
  { path, keyword, message }: ValidationProblem,
): CallResult =>
  coreResult(code, `the ${side} does not match the tool's schema: ${message}`, {
    details: { path, keyword },
  });

/** What of an agent's error is passed on: without `debug`, secrets and details that are too large. */
const passedOn = (error: RuntimeError, { limits, redactor }: CoreContext): RuntimeError => {
  const { code, message, details, retryable, where } = error;
  const keepsDetails = details && !jsonProblem(details, { maxBytes: limits.maxErrorBytes });
  return {
    code,
    message: redactor.text(
      message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message,
    ),
    details: keepsDetails ? redactedJson(details, redactor) : undefined,
    retryable,
    where: where === undefined ? undefined : redactor.text(where.slice(0, 128)),
  };
};

/** The outcome of an agent's result. Its output, unless it refers to a file, must match the limit and the tool's schema. */
export const toCallResult = (
  payload: AgentToolResult["payload"],
  outerError: RuntimeError | undefined,
  tool: RegisteredTool,
  context: CoreContext,
  maxOutputBytes: number,
): CallResult => {
  const { status } = payload;
  const error = payload.error ?? outerError;
  let result: CallResult;
  if (status === "succeeded") {
    result = checkedOutput(payload.output ?? {}, tool, context, maxOutputBytes);
  } else {
    result = { status, error: error ? passedOn(error, context) : unexplained[status] };
  }
  return addReport(result, payload, context);
};

const unexplained: Readonly<Record<"failed" | "canceled", RuntimeError>> = {
  canceled: { code: RuntimeErrorCode.Canceled, message: "the call was cancelled" },
  failed: { code: RuntimeErrorCode.Failed, message: "the tool failed and did not say why" },
};

/** What the agent says of the run goes along with the result, which is not shared yet. */
const addReport = (
  result: Writable<CallResult>,
  { started_at, finished_at, metrics }: AgentToolResult["payload"],
  { limits, redactor }: CoreContext,
): CallResult => {
  if (started_at !== undefined) result.started_at = started_at;
  if (finished_at !== undefined) result.finished_at = finished_at;
  if (metrics && !jsonProblem(metrics, { maxBytes: limits.maxErrorBytes })) {
    result.metrics = redactedJson(metrics, redactor);
  }
  return result;
};

const checkedOutput = (
  output: JsonObject,
  tool: RegisteredTool,
  { limits }: CoreContext,
  maxOutputBytes: number,
): CallResult => {
  const notJson = jsonProblem(output, { maxBytes: maxOutputBytes });
  if (notJson?.code === "too_large") {
    return coreResult(RuntimeErrorCode.OutputTooLarge, `the output exceeds ${maxOutputBytes} bytes`);
  }
  if (notJson) return coreResult(RuntimeErrorCode.InvalidOutput, "the output is not a JSON object");
  // A tool without `output_schema` may answer with any JSON object.
  const problem = tool.output && checkValue(tool.output, output, limits);
  if (!problem || OutputReferenceSchema.safeParse(output).success) return { status: "succeeded", output };
  return misfit(RuntimeErrorCode.InvalidOutput, "output", problem);
};
