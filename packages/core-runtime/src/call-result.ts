import type { JsonObject } from "@harnesskit/protocol/envelope";
import {
  type AgentToolResult,
  OutputReferenceSchema,
  type RuntimeError,
  RuntimeErrorCode,
} from "@harnesskit/protocol/runtime";
import type { CoreContext } from "./core-context.ts";
import { exceedsBytes, measureJson } from "./measure-json.ts";
import { redactedJson } from "./redacted-json.ts";
import type { RegisteredTool } from "./registered-tool.ts";

/** How a call ended. What an agent reported and what the core decided have the same form. */
export type CallResult =
  | { readonly status: "succeeded"; readonly output: JsonObject }
  | { readonly status: "failed" | "canceled"; readonly error: RuntimeError };

type ResultContext = Pick<CoreContext, "limits" | "redactor">;

const maxMessageLength = 4096;

/** An outcome that the core decides. */
export const failure = (
  code: RuntimeErrorCode,
  message: string,
  extra: { readonly retryable?: boolean; readonly details?: JsonObject } = {},
): CallResult => ({
  status: code === RuntimeErrorCode.Canceled ? "canceled" : "failed",
  error: { code, message, where: "core", ...extra },
});

/** What of an agent's error is passed on: `debug` is left out, and so are secrets and details that are too large. */
const passedOn = (error: RuntimeError, { limits, redactor }: ResultContext): RuntimeError => {
  const { code, message, details, retryable, where } = error;
  const measured = details && measureJson(details);
  const keepsDetails = measured && !exceedsBytes(details, measured.bytes, limits.maxErrorBytes);
  return {
    code,
    message: redactor.text(
      message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message,
    ),
    ...(keepsDetails && { details: redactedJson(details, redactor) }),
    ...(retryable !== undefined && { retryable }),
    ...(where !== undefined && { where: redactor.text(where.slice(0, 128)) }),
  };
};

/** What an agent's result comes to: its output, unless it refers to a file, is held against the limit and the tool's schema. */
export const toCallResult = (
  payload: AgentToolResult["payload"],
  outerError: RuntimeError | undefined,
  tool: RegisteredTool,
  context: ResultContext,
  maxOutputBytes: number,
): CallResult => {
  const { status } = payload;
  const error = payload.error ?? outerError;
  if (status === "succeeded") return checkedOutput(payload.output ?? {}, tool, maxOutputBytes);
  if (error) return { status, error: passedOn(error, context) };
  return status === "canceled"
    ? { status, error: { code: RuntimeErrorCode.Canceled, message: "the call was cancelled" } }
    : { status, error: { code: RuntimeErrorCode.Failed, message: "the tool failed and did not say why" } };
};

const checkedOutput = (output: JsonObject, tool: RegisteredTool, maxOutputBytes: number): CallResult => {
  const measured = measureJson(output);
  if (!measured) return failure(RuntimeErrorCode.InvalidOutput, "the output is no JSON object");
  if (exceedsBytes(output, measured.bytes, maxOutputBytes)) {
    return failure(RuntimeErrorCode.OutputTooLarge, `the output exceeds ${maxOutputBytes} bytes`);
  }
  const problem = tool.checkOutput(output);
  if (!problem || OutputReferenceSchema.safeParse(output).success) return { status: "succeeded", output };
  return failure(
    RuntimeErrorCode.InvalidOutput,
    `the output does not fit the tool's schema: ${problem.message}`,
    {
      details: { path: problem.path, keyword: problem.keyword },
    },
  );
};
