import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { ToolError } from "@harnesskit/wire/tool";
import type { Secrets } from "./secrets.ts";

const maxNamed = 3;

const inputText = (request: unknown): string => {
  const { method, params } = isObject(request) ? request : {};
  const message = isObject(params) && typeof params.message === "string" ? `: ${params.message}` : "";
  return displayText(`${typeof method === "string" ? method : "unknown"}${message}`, { maxLength: 300 });
};

/** The end of a call in which the server asks for what this agent cannot give: an answer of a human, a model or a client. */
export const inputRequired = (requests: unknown, secrets: Secrets): ToolError => {
  const asked = isObject(requests) ? Object.values(requests) : [];
  const named = asked.slice(0, maxNamed).map(inputText).join("; ") || "of a kind that it does not name";
  const more = asked.length > maxNamed ? ` (and ${asked.length - maxNamed} more)` : "";
  return new ToolError(
    "mcp.input_required",
    `the MCP server needs input to go on, which this agent cannot give: ${secrets.redact(named)}${more}`,
  );
};
