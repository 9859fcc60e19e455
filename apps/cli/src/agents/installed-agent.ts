import { join } from "node:path";
import { readManifest } from "@harnesskit/core-runtime";
import type { McpTool } from "@harnesskit/mcp-agent";
import type { AgentManifest } from "@harnesskit/protocol/runtime";
import { shellWord } from "@harnesskit/wire";
import * as z from "zod";
import { CliError, refusedError } from "../cli-error.ts";
import { readStateJson } from "../state-json.ts";
import { agentTreeLimits } from "./agent-limits.ts";
import {
  agentDirectory,
  type EnabledAgent,
  type InstallRecord,
  readEnabled,
  readRecord,
} from "./agent-store.ts";
import { hashTree } from "./hash-tree.ts";

/** The tools of an MCP server, as they were when it was installed; no other is offered. */
export const TOOLS_FILE = "mcp-tools.json";

const ToolsFileSchema = z.array(
  z.object({
    name: z.string(),
    description: z.string(),
    effects: z.enum(["read", "write", "execute"]),
    permissions: z.array(z.string()),
    digest: z.string(),
  }),
);
export type ReviewedTool = z.infer<typeof ToolsFileSchema>[number];

export const toReviewedTool = ({
  name,
  description,
  effects,
  permissions,
  digest,
}: McpTool): ReviewedTool => ({
  name,
  description,
  effects,
  permissions: [...permissions],
  digest,
});

/** Whether an installed agent is enabled; `changed` where its files are not those that were enabled. */
export type AgentState = "enabled" | "disabled" | "changed";

/** An installed agent, as it lies there now. */
export interface InstalledAgent {
  readonly id: string;
  readonly state: AgentState;
  readonly directory: string;
  readonly origin: string;
  readonly installedAt: string;
  readonly hash: string;
  readonly files: number;
  readonly bytes: number;
  readonly manifest: AgentManifest;
  /** Of an MCP server; other agents say when they run. */
  readonly tools?: readonly ReviewedTool[] | undefined;
}

/** What lies in a directory. Rejects with `ManifestError`, and with a `CliError` `agent_unsafe`. */
const inspectAgent = async (directory: string, kind: InstallRecord["kind"]) => {
  const tree = await hashTree(directory, agentTreeLimits.defaults);
  const { manifest } = await readManifest(directory);
  const found = kind === "mcp" ? await readStateJson(join(directory, TOOLS_FILE)) : undefined;
  const tools = ToolsFileSchema.safeParse(found).data;
  return { ...tree, manifest, tools };
};

export const notInstalled = (id: string): CliError =>
  new CliError("agent_not_installed", `no agent ${id} is installed`, {
    hint: "See which are: harness agents list",
  });

/** One installed agent with its files as they are now. Rejects with a `CliError` `agent_not_installed`, and as its files do not allow. */
export const readInstalled = async (
  id: string,
  enabled?: readonly EnabledAgent[],
): Promise<InstalledAgent> => {
  const record: InstallRecord | undefined = await readRecord(id);
  if (record?.id !== id) throw notInstalled(id);
  const directory = agentDirectory(id);
  const found = await inspectAgent(directory, record.kind);
  if (found.manifest.id !== id) {
    throw refusedError("agent_changed", `the manifest of ${id} is of another agent now`, {
      hint: removeHint(id),
    });
  }
  const grant = (enabled ?? (await readEnabled())).find((entry) => entry.id === id);
  const state = grant === undefined ? "disabled" : grant.hash === found.hash ? "enabled" : "changed";
  const { origin, installedAt } = record;
  return { id, state, directory, origin, installedAt, ...found };
};

export const removeHint = (id: string): string =>
  `Remove it, and install it again: harness agents remove ${shellWord(id)}`;
