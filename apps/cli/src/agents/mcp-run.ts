import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { createMcpAgentDirectory } from "@harnesskit/mcp-agent";
import { sha256Hex } from "@harnesskit/node-kit";
import { canonicalJson } from "@harnesskit/wire/json";
import { io } from "../io.ts";
import { agentsDirectory } from "./agent-places.ts";
import { keepNewest } from "./keep-newest.ts";
import { parseMcpSpec } from "./mcp-spec.ts";

/** Directories of servers that are kept: those that were used last. */
const maxServers = 64;

/** The program beside the command's own that serves MCP servers. */
export const mcpProgram = (): [string, string] => ["node", join(io().programs, "mcp-agent.cjs")];

/**
 * An MCP server that the user names for one conversation, as the directory of an agent: the same for the same server. All of
 * its tools are offered, or those that its file chooses. Throws a usage error, and `mcp.config_invalid`; rejects as the system does.
 */
export const resolveMcpAgent = async (
  spec: string,
): Promise<{ readonly agentId: string; readonly directory: string }> => {
  const { id, server, options } = await parseMcpSpec(spec, { cwd: io().cwd() });
  const digest = sha256Hex(canonicalJson(server)).slice(0, 16);
  const parent = join(agentsDirectory(), "mcp");
  const directory = join(parent, `${id}-${digest}`);
  const made = await createMcpAgentDirectory({ directory, id, server, ...options, command: mcpProgram() });
  const now = new Date();
  await utimes(directory, now, now);
  await keepNewest(parent, maxServers);
  return made;
};
