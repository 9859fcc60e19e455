import { displayText } from "@harnesskit/wire";
import { type Client, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { ConnectionOptions } from "./connection.ts";
import { McpError } from "./errors.ts";
import { headerFault } from "./header-fault.ts";
import { type McpTool, type McpToolList, toMcpTool, UnusableTool } from "./mcp-tool.ts";
import { ToolsPageSchema } from "./read-message.ts";

/** Reads the whole list, within its limits. Rejects as the SDK does. */
export const listTools = async (
  client: Client,
  { server, limits, times }: Pick<ConnectionOptions, "server" | "limits" | "times">,
): Promise<McpToolList> => {
  const tools = new Map<string, McpTool>();
  const dropped: McpError[] = [];
  const drop = (name: string, reason: string) => {
    const shown = displayText(name, { maxLength: 200 }) || "without a name";
    dropped.push(
      new McpError("mcp.tool_dropped", `the tool ${shown} of the MCP server is not offered: ${reason}`),
    );
  };
  const list = () => ({ tools: [...tools.values()], dropped });
  const capabilities = client.getServerCapabilities();
  if (!capabilities?.tools) return list();
  const isLegacy = client.getProtocolEra() === "legacy";
  const hasTasks = isLegacy && capabilities.tasks?.requests?.tools?.call !== undefined;
  const hasHeaders = !isLegacy && "url" in server;
  const readPage = (cursor: string) => {
    const params = cursor === "" ? {} : { cursor };
    return client.request({ method: "tools/list", params }, ToolsPageSchema, {
      timeout: times.listTimeoutMs,
    });
  };
  const cursors = new Set<string>();
  try {
    for (let cursor = ""; !cursors.has(cursor); ) {
      cursors.add(cursor);
      const page = await readPage(cursor);
      for (const declared of page.tools) {
        const tool = toMcpTool(declared, limits, hasTasks);
        if (tools.size >= limits.maxTools) {
          drop(tool.mcpName, `a server may have ${limits.maxTools} tools, and no further one is read`);
          return list();
        }
        if (tool instanceof UnusableTool) {
          drop(tool.mcpName, tool.reason);
          continue;
        }
        const fault = hasHeaders ? headerFault(tool.inputSchema) : undefined;
        if (fault !== undefined) drop(tool.mcpName, fault);
        else if (tools.has(tool.name)) drop(tool.mcpName, "an earlier tool of the list has its name");
        else tools.set(tool.name, tool);
      }
      cursor = page.nextCursor ?? "";
      if (cursor === "") return list();
      if (cursors.size >= limits.maxListPages) break;
    }
    drop("…", `the list has no end after ${cursors.size} pages`);
  } catch (cause) {
    const hasNone = cause instanceof ProtocolError && cause.code === ProtocolErrorCode.MethodNotFound;
    if (!hasNone) throw cause;
  }
  return list();
};
