import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  acquireFileLock,
  FileLockError,
  ifPresent,
  isMissing,
  isNameOfGoneProcess,
  makeDirectory,
  ownedName,
  privatePathProblem,
  readOwnFile,
  removeLockRemains,
  systemErrorCode,
  UnsafeFileError,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { AgentIdSchema } from "@harnesskit/protocol/runtime";
import * as z from "zod";
import { CliError, ExitCode, unavailableError } from "../cli-error.ts";
import { agentsDirectory, enabledFile } from "./agent-places.ts";

const hash = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const shortText = z.string().max(4096);

/** What is enabled: one entry for each agent, sorted by id. */
const EnabledFileSchema = z.object({
  version: z.literal(1),
  agents: z.array(
    z.object({ id: AgentIdSchema, hash, version: shortText, origin: shortText, enabledAt: shortText }),
  ),
});
export type EnabledAgent = z.infer<typeof EnabledFileSchema>["agents"][number];

/** Beside the copy: where it came from. */
const RecordSchema = z.object({
  version: z.literal(1),
  id: AgentIdSchema,
  kind: z.enum(["agent", "mcp"]),
  origin: shortText,
  installedAt: shortText,
});
export type InstallRecord = z.infer<typeof RecordSchema>;

const maxFileBytes = 1024 * 1024;
const stagingPrefix = "agent";
const lockWaitMs = 10_000;

const installedDirectory = (): string => join(agentsDirectory(), "installed");
const stagingDirectory = (): string => join(agentsDirectory(), "staging");

/** The copy of an installed agent, which is hashed and run. */
export const agentDirectory = (id: string): string => join(installedDirectory(), id, "agent");

const unusableStore = (path: string, problem: string): CliError =>
  unavailableError("agents_unusable", `${path} ${problem}`, {
    hint: `No installed agent is started until it is put right; to begin anew: remove ${path}`,
  });

const readJsonFile = async <T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> => {
  let text: string;
  try {
    text = (await readOwnFile(path, { maxBytes: maxFileBytes })).toString("utf8");
  } catch (error) {
    if (isMissing(error) || systemErrorCode(error) === "ENOTDIR") return undefined;
    throw unusableStore(path, UnsafeFileError.isInstance(error) ? error.problem : "cannot be read");
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw unusableStore(path, "is not a valid list of agents");
  }
};

/** What is enabled; nothing where there is no file. Rejects with a `CliError` `agents_unusable`. */
export const readEnabled = async (): Promise<readonly EnabledAgent[]> => {
  const path = enabledFile();
  const found = await lstat(path).catch(() => undefined);
  const problem = found && privatePathProblem(found, { kind: "file" });
  if (problem !== undefined) throw unusableStore(path, problem);
  return (await readJsonFile(path, EnabledFileSchema))?.agents ?? [];
};

/** Writes what is enabled; the lock must be held. */
export const writeEnabled = async (agents: readonly EnabledAgent[]): Promise<void> => {
  const sorted = [...agents].sort((a, b) => (a.id < b.id ? -1 : 1));
  await writeFileAtomic(enabledFile(), `${JSON.stringify({ version: 1, agents: sorted }, undefined, 2)}\n`);
};

/** Runs `change` while no other process changes agents. Rejects with a `CliError` `agents_busy`. */
export const whileLocked = async <T>(change: () => Promise<T>): Promise<T> => {
  await makeDirectory(agentsDirectory());
  const path = join(agentsDirectory(), "lock");
  const lock = await acquireFileLock(path, { waitMs: lockWaitMs }).catch((cause: unknown) => {
    if (!FileLockError.isInstance(cause)) throw cause;
    const options = { cause, exitCode: ExitCode.unavailable };
    throw new CliError("agents_busy", cause.message, options);
  });
  try {
    await removeLockRemains(path);
    return await change();
  } finally {
    await lock.release();
  }
};

/** The ids of all installed agents, sorted. */
export const installedIds = async (): Promise<string[]> =>
  ((await ifPresent(readdir(installedDirectory()))) ?? [])
    .filter((name) => AgentIdSchema.safeParse(name).success)
    .sort();

/** Where an installed agent came from; undefined for one that is not installed. */
export const readRecord = (id: string): Promise<InstallRecord | undefined> =>
  AgentIdSchema.safeParse(id).success
    ? readJsonFile(join(installedDirectory(), id, "record.json"), RecordSchema)
    : Promise.resolve(undefined);

/** Directories are writable again: one that is not cannot be emptied. */
const removeTree = async (path: string): Promise<void> => {
  const open = async (place: string): Promise<void> => {
    await chmod(place, 0o700);
    for (const entry of await readdir(place, { withFileTypes: true })) {
      if (entry.isDirectory()) await open(join(place, entry.name));
    }
  };
  await open(path).catch(() => {});
  await rm(path, { recursive: true, force: true });
};

/** A fresh private directory that belongs to this process; what processes left that were killed is removed. */
export const makeStaging = async (): Promise<{ readonly path: string; remove(): Promise<void> }> => {
  await makeDirectory(stagingDirectory());
  for (const name of await readdir(stagingDirectory())) {
    if (isNameOfGoneProcess(stagingPrefix, name)) await removeTree(join(stagingDirectory(), name));
  }
  const path = join(stagingDirectory(), ownedName(stagingPrefix, randomBytes(3).toString("hex")));
  await mkdir(path, { mode: 0o700 });
  return { path, remove: () => removeTree(path) };
};

/** Takes the right to write from all of a copy: what is enabled is not changed by running it. */
export const sealTree = async (path: string): Promise<void> => {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const place = join(path, entry.name);
    if (entry.isDirectory()) await sealTree(place);
    else if (entry.isFile()) await chmod(place, ((await lstat(place)).mode & 0o111) === 0 ? 0o400 : 0o500);
  }
  await chmod(path, 0o500);
};

/** Makes what lies in `staging` (`agent`, `record.json`) an installed agent, as a whole. The lock must be held. */
export const placeAgent = async (staging: string, record: InstallRecord): Promise<void> => {
  await writeFileAtomic(join(staging, "record.json"), `${JSON.stringify(record, undefined, 2)}\n`);
  await makeDirectory(installedDirectory());
  await rename(staging, join(installedDirectory(), record.id));
};

/** Takes an installed agent away, as a whole. The lock must be held. */
export const displaceAgent = async (id: string): Promise<void> => {
  const staging = await makeStaging();
  await rename(join(installedDirectory(), id), join(staging.path, "removed"));
  await staging.remove();
};
