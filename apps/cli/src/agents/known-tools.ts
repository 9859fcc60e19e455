import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { HostedAgent, KnownToolsStore } from "@harnesskit/core-runtime/thread-tools";
import { sha256Hex } from "@harnesskit/node-kit";
import * as z from "zod";
import { keepNewest, readStateJson, writeStateJson } from "../state-files.ts";
import { agentsDirectory } from "./conversation-agents.ts";

const maxFiles = 256;
/** A directory with more is not known: to look at all of it would cost as much as to start its agent. */
const maxEntries = 2_000;
/** Installed packages and repositories: large, and no part of what the author writes. */
const passedOver: ReadonlySet<string> = new Set(["node_modules", ".git", "__pycache__", ".venv"]);

const KnownFileSchema = z.object({ version: z.literal(1), state: z.string(), tools: z.array(z.unknown()) });

/** Names, sizes and times of all files of an agent, as one hash; undefined where there are too many, or one cannot be read. */
const treeState = async (directory: string): Promise<string | undefined> => {
  const lines: string[] = [];
  const visit = async (path: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (passedOver.has(entry.name)) continue;
      if (lines.length >= maxEntries) throw new RangeError("too many files");
      const place = join(path, entry.name);
      const { mode, size, mtimeNs, ino } = await lstat(place, { bigint: true });
      lines.push(JSON.stringify([place, mode, size, mtimeNs, ino].map(String)));
      if (entry.isDirectory()) await visit(place);
    }
  };
  try {
    await visit(directory);
  } catch {
    return undefined;
  }
  return sha256Hex(lines.sort().join("\n"));
};

const knownDirectory = (): string => join(agentsDirectory(), "known");

const fileOf = ({ agentId, directory }: HostedAgent): string =>
  join(knownDirectory(), `${sha256Hex(JSON.stringify([agentId, directory])).slice(0, 32)}.json`);

/** What agents declared when they last ran, in a private file for each. It holds until a file in the agent's directory changes. */
export const createKnownTools = (): KnownToolsStore => ({
  async read(agent) {
    const { data: known } = KnownFileSchema.safeParse(await readStateJson(fileOf(agent)));
    return known && known.state === (await treeState(agent.directory)) ? known.tools : undefined;
  },
  async write(agent, tools) {
    const state = await treeState(agent.directory);
    if (state === undefined) return;
    await writeStateJson(fileOf(agent), { version: 1, state, tools });
    await keepNewest(knownDirectory(), maxFiles);
  },
});
