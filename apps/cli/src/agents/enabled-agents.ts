import { lstat } from "node:fs/promises";
import { isMissing } from "@harnesskit/node-kit";
import { shellWord } from "@harnesskit/wire";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { enabledFile } from "./agent-places.ts";
import { type ResolvedAgent, toResolvedAgent } from "./resolve-agents.ts";

const noteLeftOut = (line: string): void => void createTerminal(io().stderr).say(`harness: ${line}`);

/**
 * The agents that are installed and enabled, each as it was when it was enabled. One that has changed since, or cannot be
 * read, is left out, with a line to `note` that says what to do. Never rejects.
 */
export const readEnabledAgents = async (
  note: (line: string) => void = noteLeftOut,
): Promise<readonly ResolvedAgent[]> => {
  try {
    if (await lstat(enabledFile()).then(() => false, isMissing)) return [];
    // Needed only where something was enabled, and larger than the rest of a start.
    const [{ readEnabled }, { readInstalled }] = await Promise.all([
      import("./agent-store.ts"),
      import("./installed-agent.ts"),
    ]);
    const enabled = await readEnabled();
    const found = await Promise.all(
      enabled.map(async ({ id }) => {
        const agent = await readInstalled(id, enabled).catch((error: unknown) =>
          String((error as Error).message),
        );
        if (typeof agent === "string") {
          note(`the agent ${id} is not started: ${agent}`);
          return [];
        }
        if (agent.state === "enabled") return [toResolvedAgent(agent.manifest, agent.directory)];
        note(
          `the agent ${id} is not started: its files have changed since it was enabled. Look at it and enable it again: harness agents enable ${shellWord(id)}`,
        );
        return [];
      }),
    );
    return found.flat();
  } catch (error) {
    note(`no installed agent is started: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
};
