import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "@harnesskit/core-runtime";
import { createMcpAgentDirectory, readMcpTools } from "@harnesskit/mcp-agent";
import { AgentIdSchema } from "@harnesskit/protocol/runtime";
import { HarnessError, shellWord } from "@harnesskit/wire";
import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";
import { ask } from "../ask.ts";
import { type ExitCode, refusedError, unavailableError, unusable, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { type ConfirmOptions, checkConfirmation, enable } from "./agents-command.ts";
import { agentHint } from "./conversation-agents.ts";
import { copyAgent, extractArchive } from "./copy-agent.ts";
import { makeStaging, placeAgent, type ReviewedTool } from "./installed-agents.ts";
import { isMcpSpec, mcpProgram, parseMcpSpec } from "./mcp-spec.ts";

const [vendor = ""] = workspaceAgentId.split(".");

/** True for an id of ours: grants and policies name it. */
const isReservedId = (id: string): boolean => {
  const parts = id.toLowerCase().split(/[._-]/);
  return parts.includes(vendor) || parts[0] === "harness" || parts.join("") === "workspace";
};

/** The directory of an agent, which `staging` may hold, and the tools that are offered, where they are known. */
type Prepare = (staging: string) => Promise<{ readonly root: string; readonly tools?: ReviewedTool[] }>;

/** Makes a copy, judges it, and installs it as a whole or not at all. Returns the agent's id. */
const installCopy = async (origin: string, prepare: Prepare): Promise<string> => {
  const staging = await makeStaging();
  try {
    const { root, tools } = await prepare(staging.path);
    const staged = join(staging.path, "staged");
    const tree = await copyAgent(root, join(staged, "agent"));
    const { id } = (await readManifest(join(staged, "agent"))).manifest;
    if (isReservedId(id)) {
      throw refusedError("agent_reserved", `the id ${id} is reserved: it looks like one of the harness`, {
        hint: "Give the agent an id of its own, such as com.example.tools",
      });
    }
    const installedAt = new Date().toISOString();
    await placeAgent(staged, { version: 1, id, origin: origin.slice(0, 1_000), installedAt, ...tree, tools });
    return id;
  } finally {
    await staging.remove();
  }
};

/**
 * Installs the agent of a directory or of a tar archive. Returns its id; it is not enabled. Rejects with a `CliError`:
 * `usage` for what is no agent, `agent_unsafe`, `agent_reserved`, `agent_exists`; and with a `ManifestError` for an archive.
 */
const installAgent = async (source: string): Promise<string> => {
  const path = fromHere(source);
  const found = await stat(path).catch(() => undefined);
  if (!found) throw usageError(`${source} does not exist`, agentHint);
  if (found.isDirectory()) await readManifest(path).catch(unusable(source, agentHint));
  return installCopy(path, async (staging) => ({
    root: found.isDirectory() ? path : await extractArchive(path, join(staging, "unpacked")),
  }));
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

/**
 * Starts an MCP server once, after a yes, and installs it with the tools that it had; later it is offered with these only. Returns the
 * agent's id. Rejects as `installAgent`, and with a `CliError` `mcp.…`.
 */
const installMcp = (
  spec: string,
  { id: named, env, header, start }: InstallCommandOptions,
): Promise<string> =>
  withCleanup(async (defer) => {
    if (named !== undefined && !AgentIdSchema.safeParse(named).success) {
      throw usageError("--id must have letters, digits, ., _ and -, up to 128, with a letter or digit first");
    }
    const parsed = await parseMcpSpec(spec, { cwd: io().cwd(), env, header }).catch(
      unusable("mcp:", agentHint),
    );
    const { server, options } = parsed;
    const id = named ?? parsed.id;
    const err = createTerminal(io().stderr);
    const what = "url" in server ? server.url : server.command.map((word) => shellWord(word)).join(" ");
    err.say(["To read its tools, this MCP server is started once, now, with your rights:", `  ${what}`]);
    const answer = start === true || (await ask("Start it?", "Yes, start it once", "No"));
    if (answer === undefined)
      throw usageError("an MCP server is started once to install it: --start allows it");
    if (!answer) throw refusedError("refused", "the MCP server was not started and not installed");
    const stop = new AbortController();
    defer(onStopSignals(() => stop.abort()));
    const { signal } = stop;
    const onOutput = (line: string) => void err.say(`  ${line}`);
    return installCopy(spec, async (staging) => {
      const { connectTimeoutMs } = options;
      const reading = readMcpTools({ server, env: io().env, connectTimeoutMs, signal, onOutput });
      const { serverInfo, ...read } = await reading.catch((cause: unknown) => {
        if (!HarnessError.isInstance(cause)) throw cause;
        throw unavailableError(cause.code, cause.message, { cause });
      });
      for (const { message } of read.dropped) onOutput(message);
      const tools = read.tools.filter(({ mcpName }) => options.tools?.includes(mcpName) ?? true);
      const { directory: root } = await createMcpAgentDirectory({
        ...{ directory: join(staging, "made"), id, server, ...options, command: mcpProgram() },
        acceptedTools: Object.fromEntries(tools.map(({ name, digest }) => [name, digest])),
        permissions: [...new Set(tools.flatMap((tool) => tool.permissions))].sort(),
        name: `${serverInfo.name} ${serverInfo.version}`.trim() || undefined,
      });
      const reviewed = tools.map(({ name, description, effects, permissions, digest }) => ({
        ...{ name, description, effects, permissions: [...permissions], digest },
      }));
      return { root, tools: reviewed };
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
