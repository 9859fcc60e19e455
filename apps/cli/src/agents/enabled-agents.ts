import { lstat } from "node:fs/promises";
import { isMissing } from "@harnesskit/node-kit";
import { note as noteLine } from "../terminal/terminal.ts";
import { installedDirectory } from "./agent-places.ts";
import { type ResolvedAgent, toResolvedAgent } from "./resolve-agents.ts";

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
