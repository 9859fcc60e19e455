import { sha256Digest } from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { canonicalJson, copyJson, defined, isObject } from "@harnesskit/wire/json";
import { wellFormedJson } from "@harnesskit/wire/replay";
import type { ToolEffects } from "@harnesskit/wire/tool";
import type { McpError } from "./errors.ts";
import { dataKeywords } from "./header-fault.ts";
import type { McpLimits } from "./limits.ts";
import { withoutNulls } from "./read-message.ts";
import { toAgentToolName } from "./tool-name.ts";

/** The hints of an MCP tool, as its server gives them. A server that is not trusted may lie. */
export interface McpHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** What the tools of an MCP server may need. */
export const mcpPermissions = ["mcp.destroy", "mcp.open_world", "mcp.read", "mcp.write"] as const;
export type McpPermission = (typeof mcpPermissions)[number];

/** What a tool may do, by its hints and MCP's defaults for those that are missing. */
export interface McpEffects {
  readonly effects: ToolEffects;
  readonly permissions: readonly McpPermission[];
  readonly tags: readonly string[];
}

/**
 * A tool without hints changes what it likes, destroys, and reaches the open world. Only `readOnlyHint: true` makes it a
 * tool that reads, unless `destructiveHint: true` contradicts.
 */
export const effectsOf = (hints: McpHints = {}): McpEffects => {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hints;
  const isReading = readOnlyHint === true && destructiveHint !== true;
  const isDestructive = !isReading && destructiveHint !== false;
  const isOpen = openWorldHint !== false;
  const tags = [
    ...(isReading ? ["mcp:read-only"] : []),
    ...(isDestructive ? ["mcp:destructive"] : []),
    ...(idempotentHint === true ? ["mcp:idempotent"] : []),
    ...(isOpen ? ["mcp:open-world"] : []),
  ];
  const own = isReading ? "mcp.read" : isDestructive ? "mcp.destroy" : "mcp.write";
  return {
    effects: isReading ? "read" : isDestructive ? "execute" : "write",
    permissions: isOpen ? [own, "mcp.open_world"] : [own],
    tags,
  };
};

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
  /** Whether it can only be called as a task, of 2025-11-25. */
  readonly isTask: boolean;
  /** `sha256:` and the hex digest of what was declared but icons, `_meta` and `execution`, which not every revision has. */
  readonly digest: string;
}

/** What a server is and has. */
export interface McpToolList {
  readonly tools: readonly McpTool[];
  /** Why tools are not offered. */
  readonly dropped: readonly McpError[];
}

/** Why a tool is not offered. */
export class UnusableTool {
  constructor(
    readonly mcpName: string,
    readonly reason: string,
  ) {}
}

/** A copy of a schema in which each reference is what `change` makes of it; without it where that is undefined. */
const mapReferences = (schema: unknown, change: (ref: unknown) => string | undefined): unknown => {
  if (Array.isArray(schema)) return schema.map((entry) => mapReferences(entry, change));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === "$ref") return [key, change(value)];
    return [key, dataKeywords.has(key) ? value : mapReferences(value, change)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as unknown;
};

/** What a JSON pointer of a reference leads to. */
const targetOf = (root: unknown, ref: string): unknown => {
  try {
    const names = decodeURIComponent(ref.slice(1)).split("/").slice(1);
    return names
      .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), root);
  } catch {
    return undefined;
  }
};

/** A schema without references that lead nowhere, or out of it: what is there may be anything. */
const withOwnReferences = (schema: JsonObject): JsonObject =>
  mapReferences(schema, (ref) =>
    typeof ref === "string" && /^#(\/|$)/.test(ref) && targetOf(schema, ref) !== undefined ? ref : undefined,
  ) as JsonObject;

const toOutputSchema = ({ $schema, ...declared }: JsonObject): JsonObject =>
  defined({
    $schema: typeof $schema === "string" ? $schema : undefined,
    type: "object",
    properties: {
      content: { type: "array" },
      structuredContent: mapReferences(
        withOwnReferences(declared),
        (ref) => `#/properties/structuredContent${String(ref).slice(1)}`,
      ) as JsonObject,
    },
    // Servers leave the other out in spite of their declaration; what is there is checked.
    required: ["content"],
  });

/** The schema of an input, which is an object; undefined where it says that it is something else. */
const toInputSchema = (declared: unknown): JsonObject | undefined => {
  if (declared !== undefined && !isObject(declared)) return undefined;
  const { type = "object", ...rest } = withoutNulls(declared ?? {});
  const isObjects = type === "object" || (Array.isArray(type) && type.includes("object"));
  return isObjects ? withOwnReferences({ ...rest, type: "object" } as JsonObject) : undefined;
};

/** The hints of a tool; one that is not a boolean is missing. */
const hintsOf = (annotations: unknown): McpHints => {
  const given = isObject(annotations) ? annotations : {};
  return Object.fromEntries(Object.entries(given).filter(([, hint]) => typeof hint === "boolean"));
};

const stringOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" ? value : otherwise;

/**
 * Makes the tool that a server declares one of an agent, or says why it is not offered. What is null is not there, and half of a
 * character is replaced, but in the tool's name, which the server must know again.
 */
export const toMcpTool = (
  declared: unknown,
  limits: McpLimits,
  hasTasks: boolean,
): McpTool | UnusableTool => {
  const given = isObject(declared) ? withoutNulls(declared) : {};
  const mcpName = stringOr(given.name, "");
  const name = toAgentToolName(mcpName);
  if (name === undefined) return new UnusableTool(mcpName, "its name is empty or too long");
  const unusable = (reason: string) => new UnusableTool(mcpName, reason);
  const { title, annotations, inputSchema, outputSchema, execution } = given;
  const description = stringOr(given.description, "");
  if (description.length > limits.maxDescriptionLength) {
    return unusable(`its description exceeds ${limits.maxDescriptionLength} characters`);
  }
  const isTask = isObject(execution) && execution.taskSupport === "required";
  if (isTask && !hasTasks)
    return unusable("it can only be called as a task, which the server does not offer");
  let parts: JsonObject;
  try {
    const all = { name: mcpName, title, description, annotations, inputSchema, outputSchema };
    parts = wellFormedJson(copyJson<JsonObject>(all, { name: "the declaration" })) as JsonObject;
  } catch {
    return unusable("its declaration is not JSON, or nests too deep");
  }
  const input = toInputSchema(parts.inputSchema);
  if (!input) return unusable("its inputSchema is not a JSON Schema of an object");
  return {
    ...effectsOf(hintsOf(annotations)),
    name,
    mcpName,
    description: stringOr(parts.description, "") || stringOr(parts.title, ""),
    inputSchema: input,
    isTask,
    outputSchema: isObject(parts.outputSchema) ? toOutputSchema(parts.outputSchema) : undefined,
    digest: sha256Digest(canonicalJson(parts)),
  };
};

/**
 * The tool without the part of a schema that a core refused, by a JSON pointer into the declaration; undefined where it is
 * not offered without. The server checks its inputs itself, and of an output only a check is lost.
 */
export const withoutPart = (tool: McpTool, path: unknown): McpTool | undefined => {
  const [, side, ...names] = String(path)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (side === "output_schema") return tool.outputSchema && { ...tool, outputSchema: undefined };
  const last = names.pop();
  if (side !== "input_schema" || last === undefined) return undefined;
  const inputSchema = structuredClone(tool.inputSchema);
  let place: unknown = inputSchema;
  for (const name of names) place = (place as Record<string, unknown> | undefined)?.[name];
  if (!isObject(place) || !Object.hasOwn(place, last)) return undefined;
  delete place[last];
  return { ...tool, inputSchema };
};
