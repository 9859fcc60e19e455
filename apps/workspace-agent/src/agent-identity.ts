import { readFileSync } from "node:fs";
import { workspaceAgentId as id } from "./agent-id.ts";

/** The version where there is no manifest, as in an agent that is bundled into another program; a semantic version, as agents need one. */
const unknown = "0.0.0-unknown";

const readVersion = (): string => {
  try {
    const file = new URL("../opensentience.agent.json", import.meta.url);
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { id?: unknown; version?: unknown };
    return manifest.id === id && typeof manifest.version === "string" ? manifest.version : unknown;
  } catch {
    return unknown;
  }
};

/** Who the agent says that it is. */
export const agentIdentity = (): { readonly id: string; readonly version: string } => ({
  id,
  version: readVersion(),
});
