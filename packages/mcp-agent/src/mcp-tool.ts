import { sha256Digest } from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson, copyJson, isObject } from "@harnesskit/wire/json";
import type { Tool as DeclaredTool } from "@modelcontextprotocol/sdk/types.js";
import { effectsOf, type McpEffects } from "./hints.ts";
import type { McpLimits } from "./limits.ts";
import { toAgentToolName } from "./tool-name.ts";

/** A tool of an MCP server, as it is offered to a core. */
export interface McpTool extends McpEffects {
  /** The agent's name of it. */
  readonly name: string;
  /** The server's name of it. */
  readonly mcpName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Of the whole output, in which `structuredContent` is as the server declares it. */
  readonly outputSchema: JsonObject | undefined;
  /** `sha256:` and the hex digest of all that was declared but icons and `_meta`: a change of any part changes it. */
  readonly digest: string;
}

/** Why a tool is not offered. */
export class UnusableTool {
  constructor(readonly reason: string) {}
}

/** Under these keywords are values, not schemas. */
const dataKeywords = new Set(["const", "default", "enum", "examples"]);

/** Moves the references of a schema that becomes a part of another one. */
const moveReferences = (schema: unknown, to: string): unknown => {
  if (Array.isArray(schema)) return schema.map((entry) => moveReferences(entry, to));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === "$ref" && typeof value === "string" && (value === "#" || value.startsWith("#/"))) {
      return [key, `#${to}${value.slice(1)}`];
    }
    return [key, dataKeywords.has(key) ? value : moveReferences(value, to)];
  });
  return Object.fromEntries(entries) as unknown;
};

const toOutputSchema = ({ $schema, ...declared }: JsonObject): JsonObject => ({
  ...(typeof $schema === "string" && { $schema }),
  type: "object",
  properties: {
    content: { type: "array" },
    structuredContent: moveReferences(declared, "/properties/structuredContent") as JsonObject,
  },
  required: ["content", "structuredContent"],
});

/** Makes the tool that a server declares one of an agent, or says why it is not offered. */
export const toMcpTool = (declared: DeclaredTool, limits: McpLimits): McpTool | UnusableTool => {
  const name = toAgentToolName(declared.name);
  if (name === undefined) return new UnusableTool("its name is empty or too long");
  const { description = "", title, annotations, inputSchema, outputSchema, execution } = declared;
  if (description.length > limits.maxDescriptionLength) {
    return new UnusableTool(`its description exceeds ${limits.maxDescriptionLength} characters`);
  }
  if (execution?.taskSupport === "required") return new UnusableTool("it can only be called as a task");
  let parts: JsonObject;
  try {
    const all = {
      name: declared.name,
      title,
      description,
      annotations,
      inputSchema,
      outputSchema,
      execution,
    };
    parts = copyJson<JsonObject>(all, { name: "the declaration" });
  } catch {
    return new UnusableTool("its declaration is not JSON, or nests too deep");
  }
  const output = parts.outputSchema as JsonObject | undefined;
  return {
    ...effectsOf(annotations),
    name,
    mcpName: declared.name,
    description: description === "" ? (title ?? "") : description,
    inputSchema: parts.inputSchema as JsonObject,
    outputSchema: output && toOutputSchema(output),
    digest: sha256Digest(canonicalJson(parts)),
  };
};
