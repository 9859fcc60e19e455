import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { displayText } from "@harnesskit/wire";
import { copyJson, isObject } from "@harnesskit/wire/json";
import { ToolError } from "@harnesskit/wire/tool";
import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import { systemCodeOf } from "./errors.ts";
import { type McpLimits, maxFailedBinaryLength } from "./limits.ts";
import type { Secrets } from "./secrets.ts";

type Item = CallToolResult["content"][number];

/** Base64 that is larger than what is left is not passed on: its kind and size are. */
const boundedItem = (item: Item, take: (data: string) => boolean): unknown => {
  if (item.type === "image" || item.type === "audio") {
    const { type, mimeType, data } = item;
    return take(data) ? { type, mimeType, data } : { type, mimeType, omitted_length: data.length };
  }
  if (item.type === "text") return { type: "text", text: item.text };
  if (item.type === "resource_link") {
    const { type, uri, name, title, description, mimeType, size } = item;
    return { type, uri, name, title, description, mimeType, size };
  }
  const { uri, mimeType } = item.resource;
  if ("text" in item.resource)
    return { type: "resource", resource: { uri, mimeType, text: item.resource.text } };
  const { blob } = item.resource;
  const content = take(blob) ? { blob } : { omitted_length: blob.length };
  return { type: "resource", resource: { uri, mimeType, ...content } };
};

/** An item of a result that failed as a line of its message: what is not text is named. */
const itemLine = (item: Item): string => {
  if (item.type === "text") return item.text;
  const { mimeType = "" } = item.type === "resource" ? item.resource : item;
  return `[${`${item.type} ${mimeType}`.trim()}]`;
};

/**
 * The output of a call: `content` as MCP has it, bounded, and `structuredContent`. Throws `ToolError` `mcp.tool_failed` for
 * a result with `isError`, with its text; what is not text is the output of the error.
 */
export const toOutput = (result: CallToolResult, limits: McpLimits, secrets: Secrets): JsonObject => {
  const { content, isError } = result;
  if (!isError) return boundedOutput(result, limits.maxBinaryLength, limits, secrets);
  const said =
    secrets.redact(content.map(itemLine).join("\n")).trim() || "the tool failed and gave no reason";
  const others = content.filter(({ type }) => type !== "text");
  const maxLength = Math.min(limits.maxBinaryLength, maxFailedBinaryLength);
  throw new ToolError(
    "mcp.tool_failed",
    displayText(said, { multiline: true, maxLength: limits.maxErrorLength }),
    others.length > 0 ? { output: boundedOutput({ content: others }, maxLength, limits, secrets) } : {},
  );
};

const boundedOutput = (
  { content, structuredContent }: CallToolResult,
  maxBinaryLength: number,
  limits: McpLimits,
  secrets: Secrets,
): JsonObject => {
  const omitted = content.length - limits.maxContentItems;
  let room = maxBinaryLength;
  const take = ({ length }: string): boolean => {
    if (length > room) return false;
    room -= length;
    return true;
  };
  const output = {
    content: content.slice(0, limits.maxContentItems).map((item) => boundedItem(item, take)),
    omitted_items: omitted > 0 ? omitted : undefined,
    structuredContent,
  };
  return secrets.redactJson<JsonValue>(copyJson(output)) as JsonObject;
};

/** Codes of the system that mean that a request did not leave. */
const unsent = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"]);

/** What servers say of a session of MCP; not of one that a tool has, such as "the checkout session is paid". */
const ofMcpSession =
  /\bmcp-session-id\b|\b(?:no valid|invalid|unknown|missing|expired) session\b|(?:^|[":] *)session (?:id )?(?:is |was |has )?(?:not found|invalid|unknown|expired|terminated)\b/i;

/** A refusal of the session that a request named: 404 by the specification, 410 and 400 as servers do. */
export const isOfSession = (error: unknown): boolean => {
  if (!(error instanceof SdkHttpError)) return false;
  const { status, message } = error;
  return status === 404 || status === 410 || (status === 400 && ofMcpSession.test(message));
};

/** A refusal of the credentials. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof UnauthorizedError ||
  (error instanceof SdkHttpError && (error.status === 401 || error.status === 403));

/** The failure of a call that has stood still for so long. */
export const lateCall = (timeoutMs: number): ToolError => {
  const text = `the MCP server did not answer within ${timeoutMs} ms, nor report progress (callTimeoutMs)`;
  return new ToolError("tool.timeout", text, { mayHaveRun: true });
};

/** The time of a request that is over; undefined for any other failure. */
const lateAfterMs = (thrown: unknown): number | undefined => {
  const isLate = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout;
  return isLate ? (thrown.data as { timeout?: number } | undefined)?.timeout : undefined;
};

/** A failure of a question that may be asked again: the server was busy, or did not answer. */
export const isPassing = (thrown: unknown): boolean => {
  if (thrown instanceof SdkHttpError) return thrown.status === 429 || (thrown.status ?? 0) >= 500;
  const isInternal = thrown instanceof ProtocolError && thrown.code === ProtocolErrorCode.InternalError;
  return isInternal || thrown instanceof TypeError || lateAfterMs(thrown) !== undefined;
};

/** A refusal because this agent offers no answers of a human, of a model, or of where it works. */
const needsInput = (error: ProtocolError): boolean =>
  error instanceof UrlElicitationRequiredError ||
  (error instanceof MissingRequiredClientCapabilityError &&
    ["elicitation", "sampling", "roots"].some((name) => name in error.requiredCapabilities));

/** The failure of a call that has no result. `isLost`: its connection has ended. */
export const toCallError = (thrown: unknown, isLost: boolean, secrets: Secrets): ToolError => {
  if (ToolError.isInstance(thrown)) return thrown;
  const status = thrown instanceof SdkHttpError ? thrown.status : undefined;
  if (unsent.has(systemCodeOf(thrown) ?? "")) {
    return new ToolError("agent.unavailable", "the MCP server cannot be reached: it did not get the call", {
      retryable: true,
    });
  }
  if (isRefusal(thrown)) {
    const text = `the MCP server refused the credentials (HTTP ${status ?? 401})`;
    return new ToolError("mcp.server_refused", text);
  }
  if (status !== undefined) {
    const text = `the MCP server answered with HTTP ${status}`;
    return new ToolError("mcp.request_failed", text, { mayHaveRun: true, details: { http_status: status } });
  }
  if (isLost) {
    const text =
      "the MCP server was lost during the call: it is unknown how far it came, and it is not repeated";
    return new ToolError("agent.lost", text, { mayHaveRun: true });
  }
  const timeoutMs = lateAfterMs(thrown);
  if (timeoutMs !== undefined) return lateCall(timeoutMs);
  if (!(thrown instanceof ProtocolError)) {
    return new ToolError(
      "mcp.invalid_result",
      "the MCP server answered with what is not a result of a tool",
      { mayHaveRun: true },
    );
  }
  const { code, message, data } = thrown;
  const { may_have_run: isOpen } = (isObject(data) ? data : {}) as { may_have_run?: unknown };
  return new ToolError(
    needsInput(thrown)
      ? "mcp.input_required"
      : code === ProtocolErrorCode.InvalidParams
        ? "tool.invalid_input"
        : "mcp.request_failed",
    displayText(secrets.redact(message), { maxLength: 1000 }),
    { details: { mcp_code: code }, mayHaveRun: isOpen === true || undefined },
  );
};
