import { utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  createMcpAgentDirectory,
  type McpServer,
  type McpServerOptions,
  parseMcpServer,
  readMcpServerFile,
} from "@harnesskit/mcp-agent";
import { sha256Hex } from "@harnesskit/node-kit";
import { canonicalJson } from "@harnesskit/wire/json";
import { usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { splitWords } from "../split-words.ts";
import { keepNewest } from "../state-files.ts";
import { agentsDirectory, mcpFileOf } from "./conversation-agents.ts";

interface McpSpecOptions {
  /** Names of variables that the server gets. */
  readonly env?: readonly string[] | undefined;
  /** `HEADER=NAME`: the variable with the value of a header. */
  readonly header?: readonly string[] | undefined;
  /** Where a program runs. */
  readonly cwd: string;
}

/** An MCP server that the user named, the id of the agent that serves it, and what the user chose for it. */
export interface McpSpec {
  readonly id: string;
  readonly server: McpServer;
  readonly options: McpServerOptions;
}

/** True for `mcp:COMMAND`, `mcp:URL` and `mcp:FILE.json`. */
export const isMcpSpec = (spec: string): boolean => spec.startsWith("mcp:");

const runners = new Set(["npx", "bunx", "uvx", "pnpx"]);

/** A word that says what the server is: the package that a runner runs, the program, or the host. */
const wordOf = (server: McpServer): string => {
  if ("url" in server) return new URL(server.url).hostname;
  const [program, ...args] = server.command;
  const name = basename(program);
  const found = runners.has(name) ? args.find((word) => !word.startsWith("-")) : undefined;
  return basename(found ?? name).replace(/@[^@]*$/, "");
};

const mcpAgentId = (server: McpServer): string => {
  const { cwd: _, ...place } = { cwd: undefined, ...server };
  const digest = sha256Hex(canonicalJson(place)).slice(0, 8);
  const word = wordOf(server)
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .slice(0, 64);
  return `mcp.${word}.${digest}`;
};

/** Reads `HEADER=VARIABLE`. Throws a usage error. */
export const headersOf = (given: readonly string[] | undefined): Record<string, string> | undefined => {
  if (given === undefined) return undefined;
  const pairs = given.map((text) => {
    const [, header = "", name = ""] = /^([^=]+)=([^=]+)$/.exec(text) ?? [];
    // What follows the name may be a secret.
    if (name === "")
      throw usageError(
        "--header takes HEADER=VARIABLE, the name of a variable with the header's whole value",
      );
    return [header, name] as const;
  });
  return Object.fromEntries(pairs);
};

/** A server of a file, with its options. Its program runs in the file's directory, where the file does not say. */
const fromFile = async (path: string, { env, header }: McpSpecOptions): Promise<McpSpec> => {
  if ((env ?? header) !== undefined) throw usageError("--env and --header are in the file of a server");
  const { id, server, tools, connectTimeoutMs, callTimeoutMs } = await readMcpServerFile(path);
  const placed = "command" in server ? { cwd: dirname(path), ...server } : server;
  return {
    id: id ?? mcpAgentId(server),
    server: placed,
    options: { tools, connectTimeoutMs, callTimeoutMs },
  };
};

/**
 * Reads `mcp:COMMAND`, `mcp:URL` or `mcp:FILE.json`. The id says what the server is, and is the same for the same words. Rejects
 * with a usage error, and `mcp.config_invalid`.
 */
export const parseMcpSpec = async (spec: string, given: McpSpecOptions): Promise<McpSpec> => {
  const { env, header, cwd } = given;
  const place = spec.slice("mcp:".length).trim();
  const isUrl = /^https?:\/\//i.test(place);
  const file = mcpFileOf(spec);
  if (file !== undefined) return fromFile(file, given);
  if (isUrl && env !== undefined)
    throw usageError("--env is for programs: name variables of headers with --header");
  if (!isUrl && header !== undefined)
    throw usageError("--header is for URLs: name variables of a program with --env");
  const headers = headersOf(header);
  const words = isUrl ? [] : splitWords(place, spec);
  if (!isUrl && words.length === 0)
    throw usageError(
      "mcp: needs a command or a URL",
      "For example: 'mcp:npx -y @modelcontextprotocol/server-everything'",
    );
  const server = parseMcpServer(
    isUrl ? { url: place, headers } : { command: words, cwd, env: env ? [...env] : undefined },
  );
  return { id: mcpAgentId(server), server, options: {} };
};

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
