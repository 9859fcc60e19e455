import { existsSync } from "node:fs";
import type { AgentManifest } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import { CliError, ExitCode } from "../cli-error.ts";
import { fromHere } from "../io.ts";

/** An agent whose tools a conversation has. */
export interface ResolvedAgent {
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

const unusableSpec = (spec: string, cause: unknown): unknown => {
  if (!HarnessError.isInstance(cause) || CliError.isInstance(cause)) return cause;
  return new CliError(cause.code, `--agents ${spec}: ${cause.message}`, {
    cause,
    exitCode: ExitCode.usage,
    hint: "Name a directory with an opensentience.agent.json, or an MCP server: --agents DIR, --agents mcp:COMMAND, --agents mcp:FILE.json",
  });
};

export const toResolvedAgent = (
  { id, env, start_timeout_ms: startTimeoutMs }: AgentManifest,
  directory: string,
): ResolvedAgent => ({ agentId: id, directory, env, startTimeoutMs });

const resolveAgent = async (spec: string): Promise<ResolvedAgent> => {
  try {
    // Needed only with agents, and larger than this command.
    const isMcp = spec.startsWith("mcp:");
    const place = isMcp
      ? (await (await import("./mcp-run.ts")).resolveMcpAgent(spec)).directory
      : fromHere(spec);
    const { readManifest } = await import("./core-files.ts");
    const { manifest, directory } = await readManifest(place);
    return toResolvedAgent(manifest, directory);
  } catch (cause) {
    throw unusableSpec(spec, cause);
  }
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
  const agents = await Promise.all(specs.map(resolveAgent));
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
