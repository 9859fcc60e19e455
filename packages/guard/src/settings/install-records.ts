import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  acquireFileLock,
  FileLockError,
  ifPresent,
  makeDirectory,
  readOwnFile,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { digest } from "@harnesskit/wire";
import * as z from "zod";
import { SettingsError } from "./settings-error.ts";

const maxRecordBytes = 4 * 1024 * 1024;
const maxBackups = 100;

const InstallRecordSchema = z.object({
  host: z.string(),
  path: z.string(),
  command: z.string(),
  /** What the settings said as the time that the host waits. */
  timeoutMs: z.int().positive(),
  installedAtMs: z.number(),
  /** Digest of the content that was written. */
  written: z.string(),
  /** The copy of the content without the hooks; absent where there was no file. */
  backup: z.string().optional(),
  /** Directories that were made for the file. */
  madeDirectories: z.array(z.string()).default([]),
});
type ParsedRecord = z.infer<typeof InstallRecordSchema>;
/** What was written into one settings file, and what was there before. */
export interface InstallRecord extends ParsedRecord {}

const RecordsSchema = z.object({ version: z.literal(1), installed: z.array(InstallRecordSchema) });

/** The digest that identifies content. */
export const textDigest = (text: string): Promise<string> => digest(text);

/** What was installed by this user, in a private directory; backups beside it. */
export class InstallRecords {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  get #file(): string {
    return join(this.#directory, "installed.json");
  }

  /** Resolves with the records. Rejects with `records_unreadable`. */
  async list(): Promise<readonly InstallRecord[]> {
    try {
      const bytes = await ifPresent(readOwnFile(this.#file, { maxBytes: maxRecordBytes }));
      return bytes ? RecordsSchema.parse(JSON.parse(bytes.toString("utf8"))).installed : [];
    } catch (cause) {
      const message = `${this.#file} cannot be read: move it away; hooks are then found by their commands`;
      throw new SettingsError("records_unreadable", message, { cause });
    }
  }

  /** Replaces the record of a file; undefined removes it. */
  async put(path: string, record: InstallRecord | undefined): Promise<void> {
    const others = (await this.list()).filter((one) => one.path !== path);
    const installed = record === undefined ? others : [...others, record];
    await makeDirectory(this.#directory);
    await writeFileAtomic(this.#file, `${JSON.stringify({ version: 1, installed }, null, 2)}\n`);
  }

  /** Keeps a copy of a settings file, and returns its path. */
  async backUp(host: string, text: string, atMs: number): Promise<string> {
    const directory = join(this.#directory, "backups");
    await makeDirectory(directory);
    const time = new Date(atMs).toISOString().replaceAll(/[:.]/g, "-");
    const path = join(directory, `${host}-${time}-${(await textDigest(text)).slice(-12)}`);
    await writeFileAtomic(path, text);
    await this.#prune(directory);
    return path;
  }

  /** Removes the oldest backups above the limit that no record needs. */
  async #prune(directory: string): Promise<void> {
    const needed = new Set((await this.list()).map(({ backup }) => backup));
    const files = (await readdir(directory)).map((name) => join(directory, name));
    const times = await Promise.all(files.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
    const old = times.sort((a, b) => b.at - a.at).slice(maxBackups);
    for (const { path } of old) if (!needed.has(path)) await rm(path, { force: true });
  }

  /** The text of a backup; undefined where it is gone. */
  async readBackup(path: string): Promise<string | undefined> {
    try {
      return (await readOwnFile(path, { maxBytes: maxRecordBytes })).toString("utf8");
    } catch {
      return undefined;
    }
  }

  /** Runs while no other process of this user changes settings. Rejects with `settings_busy`. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    await makeDirectory(this.#directory);
    const lock = await acquireFileLock(join(this.#directory, "lock")).catch((cause: unknown) => {
      if (!FileLockError.isInstance(cause)) throw cause;
      const message = "another harness guard is changing settings: wait for it to end";
      throw new SettingsError("settings_busy", message, { cause });
    });
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }
}

/** Creates the records of a directory, such as `~/.local/state/harnesskit/guard`; it is made with mode 0700 when needed. */
export const createInstallRecords = (directory: string): InstallRecords => new InstallRecords(directory);
