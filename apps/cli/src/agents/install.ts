import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "@harnesskit/core-runtime";
import { createMcpAgentDirectory, readMcpTools } from "@harnesskit/mcp-agent";
import { AgentIdSchema } from "@harnesskit/protocol/runtime";
import { HarnessError, shellWord } from "@harnesskit/wire";
import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";
import { ask } from "../ask.ts";
import { CliError, type ExitCode, refusedError, unavailableError, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { type ConfirmOptions, checkConfirmation, enable } from "./agents-command.ts";
import { copyAgentDirectory, extractArchive } from "./copy-agent.ts";
import { hashTree } from "./hash-tree.ts";
import { makeStaging, placeAgent, type ReviewedTool } from "./installed-agents.ts";
import { isMcpSpec, type McpSpec, mcpProgram, parseMcpSpec } from "./mcp-spec.ts";

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
const installAgent = async (source: string): Promise<string> => {
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

interface InstallMcpOptions extends McpSpec {
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
const installMcpServer = (options: InstallMcpOptions): Promise<string> => {
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

interface InstallCommandOptions extends ConfirmOptions {
  /** Of the agent that serves an MCP server. @default one that follows from the command or URL */
  readonly id?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  /** The MCP server may be started once, without a question. */
  readonly start?: true;
  readonly json?: true;
}

const installMcp = (spec: string, options: InstallCommandOptions): Promise<string> =>
  withCleanup(async (defer) => {
    const { id, env, header } = options;
    if (id !== undefined && !AgentIdSchema.safeParse(id).success) {
      throw usageError("--id must have letters, digits, ., _ and -, up to 128, with a letter or digit first");
    }
    const parsed = await parseMcpSpec(spec, {
      cwd: io().cwd(),
      env,
      header,
    });
    const err = createTerminal(io().stderr);
    const { server } = parsed;
    const what = "url" in server ? server.url : server.command.map((word) => shellWord(word)).join(" ");
    err.say(["To read its tools, this MCP server is started once, now, with your rights:", `  ${what}`]);
    const answer = options.start === true || (await ask("Start it?", "Yes, start it once", "No"));
    if (answer === undefined)
      throw usageError("an MCP server is started once to install it: --start allows it");
    if (!answer) throw refusedError("refused", "the MCP server was not started and not installed");
    const stop = new AbortController();
    defer(onStopSignals(() => stop.abort()));
    return installMcpServer({
      ...parsed,
      id: id ?? parsed.id,
      spec,
      signal: stop.signal,
      onOutput: (line) => err.say(`  ${line}`),
    });
  });

/** `harness agents install`: copies an agent, shows it, and enables it after a yes. Returns the exit code. */
export const installCommand = async (source: string, options: InstallCommandOptions): Promise<ExitCode> => {
  checkConfirmation(options);
  const isMcp = isMcpSpec(source);
  if (!isMcp && (options.id ?? options.env ?? options.header ?? options.start) !== undefined) {
    throw usageError("--id, --env, --header and --start belong to mcp:");
  }
  const id = isMcp ? await installMcp(source, options) : await installAgent(source);
  createTerminal(io().stderr).say(`Installed ${id}`);
  return enable(id, options, true);
};
