import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "@harnesskit/core-runtime";
import { createMcpAgentDirectory, readMcpTools } from "@harnesskit/mcp-agent";
import { HarnessError } from "@harnesskit/wire";
import { CliError, refusedError, unavailableError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";
import { agentTreeLimits } from "./agent-limits.ts";
import {
  type InstallRecord,
  installedIds,
  makeStaging,
  placeAgent,
  sealTree,
  whileLocked,
} from "./agent-store.ts";
import { copyAgentDirectory, extractArchive } from "./copy-agent.ts";
import { hashTree } from "./hash-tree.ts";
import { removeHint, TOOLS_FILE, toReviewedTool } from "./installed-agent.ts";
import { mcpProgram } from "./mcp-run.ts";
import type { McpSpec } from "./mcp-spec.ts";
import { isReservedId } from "./reserved-id.ts";

/** Fills the directory of a copy. */
type Fill = (directory: string) => Promise<void>;

const placeCopy = async (
  record: Omit<InstallRecord, "version" | "installedAt">,
  staging: string,
): Promise<void> => {
  const { id } = record;
  await whileLocked(async () => {
    const present = await installedIds();
    const same = present.find((other) => other.toLowerCase() === id.toLowerCase());
    if (same !== undefined) {
      throw new CliError("agent_exists", `an agent ${same} is installed already`, {
        hint: removeHint(same),
      });
    }
    const { maxAgents } = agentTreeLimits.defaults;
    if (present.length >= maxAgents) {
      throw new CliError("agents_full", `${maxAgents} agents are installed already`, {
        hint: "Remove one: harness agents remove ID",
      });
    }
    await placeAgent(staging, { version: 1, ...record, installedAt: new Date().toISOString() });
  });
};

/** What is kept of where a copy is from: a record of any length is not read again. */
const maxOriginLength = 1_000;

/** Makes a copy, judges it, and installs it as a whole or not at all. Returns the agent's id. */
const installCopy = async (kind: InstallRecord["kind"], origin: string, fill: Fill): Promise<string> => {
  const staging = await makeStaging();
  try {
    const copy = join(staging.path, "agent");
    await mkdir(copy, { mode: 0o700 });
    await fill(copy);
    const { manifest } = await readManifest(copy);
    const { id } = manifest;
    if (isReservedId(id)) {
      throw refusedError("agent_reserved", `the id ${id} is reserved: it looks like one of the harness`, {
        hint: "Give the agent an id of its own, such as com.example.tools",
      });
    }
    await hashTree(copy, agentTreeLimits.defaults);
    await sealTree(copy);
    await placeCopy({ id, kind, origin: origin.slice(0, maxOriginLength) }, staging.path);
    return id;
  } finally {
    await staging.remove();
  }
};

/**
 * Installs the agent of a directory or of a tar archive. Returns its id; it is not enabled. Rejects with a `CliError`:
 * `agent_not_found`, `agent_unsafe`, `agent_reserved`, `agent_exists`, `agents_full`, `agents_busy`; and with a `ManifestError`.
 */
export const installAgent = async (source: string): Promise<string> => {
  const path = fromHere(source);
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    throw new CliError("agent_not_found", `${source} does not exist`, {
      hint: "Name a directory with an opensentience.agent.json, a tar archive of one, or mcp:COMMAND",
    });
  }
  const limits = agentTreeLimits.defaults;
  if (found.isDirectory()) await readManifest(path);
  return installCopy("agent", path, (copy) =>
    found.isDirectory() ? copyAgentDirectory(path, copy, limits) : extractArchive(path, copy, limits),
  );
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
  return installCopy("mcp", spec, async (copy) => {
    const { connectTimeoutMs } = chosen;
    const reading = readMcpTools({ server, env: io().env, connectTimeoutMs, signal, onOutput });
    const { serverInfo, ...read } = await reading.catch((cause: unknown) => {
      if (!HarnessError.isInstance(cause)) throw cause;
      throw unavailableError(cause.code, cause.message, { cause });
    });
    for (const { message } of read.dropped) onOutput(message);
    const tools = read.tools.filter(({ mcpName }) => chosen.tools?.includes(mcpName) ?? true);
    const acceptedTools = Object.fromEntries(tools.map(({ name, digest }) => [name, digest]));
    const permissions = [...new Set(tools.flatMap((tool) => tool.permissions))].sort();
    const name = `${serverInfo.name} ${serverInfo.version}`.trim();
    await createMcpAgentDirectory({
      directory: copy,
      id,
      server,
      acceptedTools,
      ...chosen,
      permissions,
      command: mcpProgram(),
      name: name === "" ? undefined : name,
    });
    const reviewed = tools.map(toReviewedTool);
    await writeFile(join(copy, TOOLS_FILE), `${JSON.stringify(reviewed, undefined, 2)}\n`, {
      flag: "wx",
      mode: 0o400,
    });
  });
};
