import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "@harnesskit/core-runtime";
import {
  isMissing,
  isNameOfGoneProcess,
  makeDirectory,
  ownedName,
  systemErrorCode,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { AgentIdSchema, type AgentManifest } from "@harnesskit/protocol/runtime";
import { shellWord } from "@harnesskit/wire";
import * as z from "zod";
import { CliError, type HintLine } from "../cli-error.ts";
import { readStateJson } from "../state-files.ts";
import { agentsDirectory, installedDirectory } from "./conversation-agents.ts";

const ReviewedToolSchema = z.object({
  name: z.string(),
  description: z.string(),
  effects: z.enum(["read", "write", "execute"]),
  permissions: z.array(z.string()),
  digest: z.string(),
});
/** A tool of an MCP server, as it was when the server was installed. */
export type ReviewedTool = z.infer<typeof ReviewedToolSchema>;

const RecordSchema = z.object({
  version: z.literal(1),
  id: AgentIdSchema,
  origin: z.string(),
  installedAt: z.string(),
  /** Of all files of the copy, as it was made. */
  hash: z.string(),
  files: z.number(),
  bytes: z.number(),
  /** Of an MCP server, of which no other tool is offered; other agents say when they run. */
  tools: z.array(ReviewedToolSchema).optional(),
  enabledAt: z.string().optional(),
});
/** What is known of an installed agent beside its files. */
export type InstallRecord = z.infer<typeof RecordSchema>;

/** An installed agent. */
export interface InstalledAgent extends InstallRecord {
  readonly state: "enabled" | "disabled";
  readonly directory: string;
  readonly manifest: AgentManifest;
}

const stagingPrefix = "agent";
const stagingDirectory = (): string => join(agentsDirectory(), "staging");
const recordFile = (directory: string): string => join(directory, "record.json");

const writeRecord = (directory: string, record: InstallRecord): Promise<void> =>
  writeFileAtomic(recordFile(directory), `${JSON.stringify(record, undefined, 2)}\n`);

const removeHint = (id: string): HintLine => ({
  to: "Remove it, and install it again",
  run: `harness agents remove ${shellWord(id)}`,
});

const notInstalled = (id: string): CliError =>
  new CliError("agent_not_installed", `no agent ${id} is installed`, {
    hint: { to: "See which are", run: "harness agents list" },
  });

/** The ids of all installed agents, sorted; an empty list where this user has no directory of state. */
export const installedIds = async (): Promise<string[]> => {
  const names = await readdir(installedDirectory()).catch((error: unknown) => {
    if (isMissing(error) || systemErrorCode(error) === "ENOTDIR") return [];
    throw error;
  });
  return names.filter((name) => AgentIdSchema.safeParse(name).success).sort();
};

/** Rejects with a `CliError` `agent_not_installed` or `agent_unusable`, and as a manifest that cannot be used. */
export const readInstalled = async (id: string): Promise<InstalledAgent> => {
  if (!(await installedIds()).includes(id)) throw notInstalled(id);
  const place = join(installedDirectory(), id);
  const { data: record } = RecordSchema.safeParse(await readStateJson(recordFile(place)));
  if (record?.id !== id) {
    throw new CliError("agent_unusable", `the record of ${id} cannot be read`, { hint: removeHint(id) });
  }
  const { manifest, directory } = await readManifest(join(place, "agent"));
  return { ...record, state: record.enabledAt === undefined ? "disabled" : "enabled", directory, manifest };
};

/** Keeps whether an agent is enabled. */
export const setEnabled = async (
  { state: _, directory: __, manifest: ___, ...record }: InstalledAgent,
  enabledAt: string | undefined,
): Promise<void> => writeRecord(join(installedDirectory(), record.id), { ...record, enabledAt });

const removeTree = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

/** A fresh private directory that belongs to this process; what killed processes have left is removed. */
export const makeStaging = async (): Promise<{ readonly path: string; remove(): Promise<void> }> => {
  await makeDirectory(stagingDirectory());
  for (const name of await readdir(stagingDirectory()))
    if (isNameOfGoneProcess(stagingPrefix, name)) await removeTree(join(stagingDirectory(), name));
  const path = join(stagingDirectory(), ownedName(stagingPrefix, randomBytes(3).toString("hex")));
  await mkdir(path, { mode: 0o700 });
  return { path, remove: () => removeTree(path) };
};

/** Makes the directory `staged`, which has the copy in `agent`, an installed agent, as a whole. Rejects with a `CliError` `agent_exists`. */
export const placeAgent = async (staged: string, record: InstallRecord): Promise<void> => {
  const { id } = record;
  const same = (await installedIds()).find((other) => other.toLowerCase() === id.toLowerCase());
  if (same !== undefined) {
    throw new CliError("agent_exists", `an agent ${same} is installed already`, { hint: removeHint(same) });
  }
  await writeRecord(staged, record);
  await makeDirectory(installedDirectory());
  await rename(staged, join(installedDirectory(), id));
};

/** Takes an installed agent away, as a whole. Rejects with a `CliError` `agent_not_installed`. */
export const displaceAgent = async (id: string): Promise<void> => {
  if (!(await installedIds()).includes(id)) throw notInstalled(id);
  const staging = await makeStaging();
  await rename(join(installedDirectory(), id), join(staging.path, "removed"));
  await staging.remove();
};
