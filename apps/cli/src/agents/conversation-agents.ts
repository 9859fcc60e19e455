import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "@harnesskit/node-kit";
import type { AgentManifest } from "@harnesskit/protocol/runtime";
import { CliError, ExitCode, unusable } from "../cli-error.ts";
import { fromHere } from "../io.ts";
import { note as noteLine } from "../terminal/terminal.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** Where this user's agents are. */
export const agentsDirectory = (): string => stateDirectory("agents");

/** The copies of agents that are installed, each with its record. */
export const installedDirectory = (): string => join(agentsDirectory(), "installed");

/** An agent whose tools a conversation has. */
interface ResolvedAgent {
  readonly agentId: string;
  /** The directory of its manifest, absolute. */
  readonly directory: string;
  readonly startTimeoutMs?: number | undefined;
  /** Names of the variables that it needs. */
  readonly env?: readonly string[] | undefined;
}

/** The path in `mcp:FILE.json`; undefined for a command or a URL. */
export const mcpFileOf = (spec: string): string | undefined => {
  const place = spec.slice("mcp:".length).trim();
  const isFile =
    spec.startsWith("mcp:") && place.endsWith(".json") && (!/\s|^https?:/i.test(place) || existsSync(place));
  return isFile ? fromHere(place) : undefined;
};

/** What names an agent. */
export const agentHint =
  "Name a directory with an opensentience.agent.json, or an MCP server: mcp:COMMAND, mcp:URL or mcp:FILE.json";

const toResolvedAgent = (
  { id, env, start_timeout_ms: startTimeoutMs }: AgentManifest,
  directory: string,
): ResolvedAgent => ({ agentId: id, directory, env, startTimeoutMs });

const resolveAgent = async (spec: string): Promise<ResolvedAgent> => {
  // Needed only with agents, and larger than this command.
  const isMcp = spec.startsWith("mcp:");
  const place = isMcp
    ? (await (await import("./mcp-spec.ts")).resolveMcpAgent(spec)).directory
    : fromHere(spec);
  const { readManifest } = await import("./core-files.ts");
  const { manifest, directory } = await readManifest(place);
  return toResolvedAgent(manifest, directory);
};

/**
 * The agents of `--agents`, in the order given: directories, and MCP servers (`mcp:…`). Rejects with a `CliError` for a directory
 * that has no usable manifest (`manifest_not_found`, `manifest_unsafe`, `manifest_too_large`, `manifest_invalid`), for a server
 * that cannot be used (`mcp.config_invalid`), and `agent_exists` where two have the
 * same id, whatever its case, or that of `others`.
 */
export const resolveAgents = async (
  specs: readonly string[],
  others: readonly ResolvedAgent[] = [],
): Promise<readonly ResolvedAgent[]> => {
  const agents = await Promise.all(
    specs.map((spec) => {
      // What stands before the host of a URL may be a password.
      const shown = spec.replace(/^(mcp:\s*https?:\/\/).*@/is, "$1…@");
      return resolveAgent(spec).catch(unusable(`--agents ${shown}`, agentHint));
    }),
  );
  const places = new Map(others.map(({ agentId, directory }) => [agentId.toLowerCase(), directory]));
  for (const { agentId, directory } of agents) {
    const other = places.get(agentId.toLowerCase());
    if (other !== undefined) throw sameId(agentId, other, directory);
    places.set(agentId.toLowerCase(), directory);
  }
  return agents;
};

const sameId = (agentId: string, ...places: readonly string[]): CliError =>
  new CliError("agent_exists", `two agents have the id ${agentId}: ${places.join(" and ")}`, {
    exitCode: ExitCode.usage,
    hint: "Leave one of them out, or give it another id",
  });

/** The agents that are installed and enabled. One that cannot be read is left out, with a line to `note` that says why. Never rejects. */
export const readEnabledAgents = async (
  note: (line: string) => void = (line) => noteLine(`harness: ${line}`),
): Promise<readonly ResolvedAgent[]> => {
  try {
    if (await lstat(installedDirectory()).then(() => false, isMissing)) return [];
    // Needed only where something was installed, and larger than the rest of a start.
    const { installedIds, readInstalled } = await import("./installed-agents.ts");
    const found = await Promise.all(
      (await installedIds()).map(async (id) => {
        try {
          const { state, manifest, directory } = await readInstalled(id);
          return state === "enabled" ? [toResolvedAgent(manifest, directory)] : [];
        } catch (error) {
          note(`the agent ${id} is not started: ${(error as Error).message}`);
          return [];
        }
      }),
    );
    return found.flat();
  } catch (error) {
    note(`no installed agent is started: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
};
