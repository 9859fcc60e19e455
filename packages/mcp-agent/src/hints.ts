import type { ToolEffects } from "@harnesskit/wire/tool";

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
