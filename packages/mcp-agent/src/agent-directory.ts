import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeDirectory, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";
import { AGENT_MANIFEST_FILE, type AgentManifest, AgentManifestSchema } from "@harnesskit/protocol/runtime";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { maxTimerMs } from "@harnesskit/wire/time";
import * as z from "zod";
import { McpError } from "./errors.ts";
import { mcpTimes } from "./limits.ts";
import { createMcpAgent } from "./mcp-agent.ts";
import { configProblem, type McpServer, parseMcpServer, serverTitle, variablesOf } from "./mcp-server.ts";
import { mcpPermissions } from "./mcp-tool.ts";
import { checkMcpAgentDirectoryOptions } from "./option-names.ts";

/** The name of the file that describes the MCP server, beside the manifest. */
const MCP_SERVER_FILE = "mcp-server.json";

/** What an operator may choose for one server. */
export interface McpServerOptions {
  /** The tools that are offered, by the server's names. @default all tools */
  readonly tools?: readonly string[] | undefined;
  /** How long the server may take to start, and to answer `initialize`. @default 30000 */
  readonly connectTimeoutMs?: number | undefined;
  /** How long a call may take without progress. @default 600000 */
  readonly callTimeoutMs?: number | undefined;
}

/** A file that describes a server. */
export interface McpServerFile extends McpServerOptions {
  /** Of the agent; a file that a user writes needs none. */
  readonly id?: string | undefined;
  readonly version?: string | undefined;
  readonly server: McpServer;
  /** See `McpAgentOptions`. */
  readonly acceptedTools?: Readonly<Record<string, string>> | undefined;
}

const McpServerFileSchema = z.strictObject({
  id: z.string().optional(),
  version: z.string().optional(),
  server: z.unknown(),
  acceptedTools: z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)).optional(),
  tools: z.array(z.string()).optional(),
  connectTimeoutMs: z.int().positive().max(600_000).optional(),
  callTimeoutMs: z.int().positive().max(maxTimerMs).optional(),
});

const maxFileBytes = 1024 * 1024;

/** From the start of a process to its hello, beside the server's start. */
const ownStartMs = 5000;

export interface McpAgentDirectoryOptions extends McpServerOptions {
  /** Where the two files are written; made with mode 0700 if it is missing. */
  readonly directory: string;
  /** The agent's id, such as `mcp.files`. */
  readonly id: string;
  /** @default "1.0.0" */
  readonly version?: string | undefined;
  /** What people call the agent. @default the server's command line or URL */
  readonly name?: string | undefined;
  /** A command, or a URL of Streamable HTTP. */
  readonly server: McpServer;
  /** @default all tools are offered; see `McpAgentOptions` */
  readonly acceptedTools?: Readonly<Record<string, string>> | undefined;
  /** What the tools need; see `effectsOf`. @default all permissions of MCP tools */
  readonly permissions?: readonly string[] | undefined;
  /** The program that serves the directory. @default `node` with this package's own */
  readonly command?: readonly [string, ...string[]] | undefined;
}

const ownProgram = (): [string, ...string[]] => [
  "node",
  fileURLToPath(new URL("./agent.js", import.meta.url)),
];

/**
 * Writes a directory that any core can launch: a manifest, and the server's description. Returns the agent's id and the
 * absolute path. Rejects with `mcp.config_invalid`, `invalid_argument` (id, version, name), and as the system does.
 */
export const createMcpAgentDirectory = async (
  options: McpAgentDirectoryOptions,
): Promise<{ readonly agentId: string; readonly directory: string }> => {
  checkMcpAgentDirectoryOptions(options);
  const {
    id,
    version = "1.0.0",
    acceptedTools,
    permissions = mcpPermissions,
    command = ownProgram(),
    tools,
    connectTimeoutMs = mcpTimes.defaults.connectTimeoutMs,
    callTimeoutMs,
  } = options;
  const directory = resolve(options.directory);
  const server = parseMcpServer(options.server);
  const manifest: AgentManifest = {
    id,
    version,
    name: (options.name ?? serverTitle(server)).slice(0, 256),
    description: `The tools of the MCP server ${serverTitle(server)}.`,
    command: [...command],
    env: variablesOf(server),
    permissions: [...permissions],
    restart: { policy: "on-failure" },
    start_timeout_ms: connectTimeoutMs + ownStartMs,
  };
  const checked = AgentManifestSchema.safeParse(manifest);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new InvalidArgumentError(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  const file: McpServerFile = {
    id,
    version,
    server,
    acceptedTools: acceptedTools ? { ...acceptedTools } : undefined,
    tools: tools ? [...tools] : undefined,
    connectTimeoutMs,
    callTimeoutMs,
  };
  await makeDirectory(directory);
  await writeUnlessSame(join(directory, MCP_SERVER_FILE), `${JSON.stringify(file, undefined, 2)}\n`);
  await writeUnlessSame(join(directory, AGENT_MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return { agentId: id, directory };
};

/** A core that watches the directory sees a change only where there is one. */
const writeUnlessSame = async (path: string, text: string): Promise<void> => {
  const found = await readOwnFile(path, { maxBytes: maxFileBytes }).catch(() => undefined);
  if (found?.toString("utf8") !== text) await writeFileAtomic(path, text);
};

/**
 * Reads a file that describes an MCP server, its options included: `mcp-server.json` of a directory of {@link
 * createMcpAgentDirectory}, or one that a user wrote, without an id. Rejects with `mcp.config_invalid`.
 */
export const readMcpServerFile = async (path: string): Promise<McpServerFile> => {
  const name = displayText(basename(path), { maxLength: 200 });
  let value: unknown;
  try {
    value = JSON.parse((await readOwnFile(path, { maxBytes: maxFileBytes })).toString("utf8"));
  } catch (cause) {
    throw new McpError("mcp.config_invalid", `${name} cannot be read as JSON`, { cause });
  }
  const { data, error } = McpServerFileSchema.safeParse(value);
  if (!data) throw configProblem(name, error);
  return { ...data, server: parseMcpServer(data.server) };
};

/** Beside the start of the server, to read its tools. */
const listWaitMs = 3000;

/** The program of a generated directory: serves the MCP server that the working directory describes. Never rejects. */
export const runMcpAgentProgram = async (): Promise<void> => {
  try {
    const { id = "", ...file } = await readMcpServerFile(join(process.cwd(), MCP_SERVER_FILE));
    const { connectTimeoutMs } = file;
    // Its manifest gives it the time; one without was written before there was an option.
    const startWaitMs = connectTimeoutMs === undefined ? undefined : connectTimeoutMs + listWaitMs;
    await createMcpAgent({ ...file, id, startWaitMs }).run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`mcp-agent: ${displayText(message, { maxLength: 1000 })}\n`);
    process.exitCode = 1;
  }
};
