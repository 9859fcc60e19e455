import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "@harnesskit/core-runtime";
import { createMcpAgentDirectory, readMcpTools } from "@harnesskit/mcp-agent";
import { HarnessError } from "@harnesskit/wire";
import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";
import { CliError, refusedError, unavailableError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";
import { copyAgentDirectory, extractArchive } from "./copy-agent.ts";
import { hashTree } from "./hash-tree.ts";
import { makeStaging, placeAgent, type ReviewedTool } from "./installed-agents.ts";
import { mcpProgram } from "./mcp-run.ts";
import type { McpSpec } from "./mcp-spec.ts";

const [vendor = ""] = workspaceAgentId.split(".");

/** True for an id of ours: grants and policies name it. */
const isReservedId = (id: string): boolean => {
  const parts = id.toLowerCase().split(/[._-]/);
  return parts.includes(vendor) || parts[0] === "harness" || parts.join("") === "workspace";
};

/** Fills the directory of a copy, which it makes; returns the tools that are offered, where they are known. */
type Fill = (copy: string, staging: string) => Promise<ReviewedTool[] | undefined>;

/** Makes a copy, judges it, and installs it as a whole or not at all. Returns the agent's id. */
const installCopy = async (origin: string, fill: Fill): Promise<string> => {
  const staging = await makeStaging();
  try {
    const staged = join(staging.path, "staged");
    const copy = join(staged, "agent");
    await mkdir(copy, { mode: 0o700, recursive: true });
    const tools = await fill(copy, staging.path);
    const { id } = (await readManifest(copy)).manifest;
    if (isReservedId(id)) {
      throw refusedError("agent_reserved", `the id ${id} is reserved: it looks like one of the harness`, {
        hint: "Give the agent an id of its own, such as com.example.tools",
      });
    }
    const installedAt = new Date().toISOString();
    const tree = await hashTree(copy);
    await placeAgent(staged, { version: 1, id, origin: origin.slice(0, 1_000), installedAt, ...tree, tools });
    return id;
  } finally {
    await staging.remove();
  }
};

/**
 * Installs the agent of a directory or of a tar archive. Returns its id; it is not enabled. Rejects with a `CliError`:
 * `agent_not_found`, `agent_unsafe`, `agent_reserved`, `agent_exists`; and with a `ManifestError`.
 */
export const installAgent = async (source: string): Promise<string> => {
  const path = fromHere(source);
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    throw new CliError("agent_not_found", `${source} does not exist`, {
      hint: "Name a directory with an opensentience.agent.json, a tar archive of one, or mcp:COMMAND",
    });
  }
  if (found.isDirectory()) await readManifest(path);
  return installCopy(path, async (copy, staging) => {
    const root = found.isDirectory() ? path : await extractArchive(path, join(staging, "unpacked"));
    await copyAgentDirectory(root, copy);
    return undefined;
  });
};

export interface InstallMcpOptions extends McpSpec {
  /** As the user wrote it. */
  readonly spec: string;
  readonly signal: AbortSignal;
  /** Receives each line of the server's standard error, safe to show. */
  readonly onOutput: (line: string) => void;
}

/**
 * Starts an MCP server once and installs it with the tools that it had; later it is offered with these only. Returns the
 * agent's id. Rejects as `installAgent`, and with a `CliError` `mcp.…`.
 */
export const installMcpServer = (options: InstallMcpOptions): Promise<string> => {
  const { id, server, options: chosen, spec, signal, onOutput } = options;
  return installCopy(spec, async (directory) => {
    const { connectTimeoutMs } = chosen;
    const reading = readMcpTools({ server, env: io().env, connectTimeoutMs, signal, onOutput });
    const { serverInfo, ...read } = await reading.catch((cause: unknown) => {
      if (!HarnessError.isInstance(cause)) throw cause;
      throw unavailableError(cause.code, cause.message, { cause });
    });
    for (const { message } of read.dropped) onOutput(message);
    const tools = read.tools.filter(({ mcpName }) => chosen.tools?.includes(mcpName) ?? true);
    await createMcpAgentDirectory({
      ...{ directory, id, server, ...chosen, command: mcpProgram() },
      acceptedTools: Object.fromEntries(tools.map(({ name, digest }) => [name, digest])),
      permissions: [...new Set(tools.flatMap((tool) => tool.permissions))].sort(),
      name: `${serverInfo.name} ${serverInfo.version}`.trim() || undefined,
    });
    return tools.map(({ name, description, effects, permissions, digest }) => ({
      ...{ name, description, effects, permissions: [...permissions], digest },
    }));
  });
};
