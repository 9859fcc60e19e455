import { type Stats, utimesSync } from "node:fs";
import * as promises from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  createFileAtomic,
  isMissing,
  JournalError,
  type JournalFileSystem,
  journalFileSystem,
  makeDirectory,
  readOwnFile,
  syncDirectory,
  systemErrorCode,
  UnsafeFileError,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { logChanged, ThreadStoreError } from "../errors.ts";

/** What the store works on. A seam, so that a test can model what a disk does between a write and its flush. */
export interface StoreFileSystem extends JournalFileSystem, Pick<typeof promises, "readdir" | "lstat"> {
  utimesSync(path: string, accessedSeconds: number, modifiedSeconds: number): void;
}

const { readdir, lstat } = promises;

export const nodeFileSystem: StoreFileSystem = { ...journalFileSystem, readdir, lstat, utimesSync };

/** File systems keep the time that a directory is given in steps of a microsecond or less; others are not relied upon. */
const touchStepMs = 0.005;

/** The value, or undefined where what it is made of does not exist. */
export const unlessMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
};

const isNotThere = (error: unknown): boolean => isMissing(error) || systemErrorCode(error) === "ENOTDIR";

/** A file system failure as a `ThreadStoreError`: which one, never where. */
export const toFileStoreError = (error: unknown): ThreadStoreError => {
  if (ThreadStoreError.isInstance(error)) return error;
  if (JournalError.isInstance(error)) {
    if (error.code === "journal_displaced") return logChanged();
    if (error.code === "journal_damaged") {
      const message = `The log of the thread is damaged in line ${error.line} and is left as it is: \`harness doctor\` names the file`;
      return new ThreadStoreError("log_damaged", message, { cause: error });
    }
    if (error.code === "journal_full")
      return new ThreadStoreError("store_full", "The log of the thread is full: begin another thread", {
        cause: error,
      });
  }
  const code = systemErrorCode(error);
  if (code === "ENOSPC" || code === "EDQUOT")
    return new ThreadStoreError("store_full", "The disk is full", { cause: error });
  const message = UnsafeFileError.isInstance(error)
    ? `A file of .harness ${error.problem}; see \`harness doctor\``
    : `The thread could not be read or written${code === undefined ? "" : ` (${code})`}`;
  return new ThreadStoreError("store_failed", message, { cause: error });
};

/** Runs `work`; what it fails with is a `ThreadStoreError`. */
export const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw toFileStoreError(error);
  }
};

/**
 * A directory of the store and its small files, each written at once. A workspace that another person made must not lead
 * what is written here elsewhere: whatever names, creates or replaces files rejects with `store_failed` where a directory
 * from `root` to here is a symbolic link.
 */
export class StoreDirectory {
  readonly path: string;
  /** `root` and the directories from it to here. */
  readonly #all: readonly string[];

  constructor(
    readonly fileSystem: StoreFileSystem,
    root: string,
    ...names: readonly string[]
  ) {
    this.#all = [root, ...names.map((_, index) => join(root, ...names.slice(0, index + 1)))];
    this.path = join(root, ...names);
  }

  /** Throws `store_failed` where a link leads here. A directory that does not exist passes. */
  refuseLinks(): void {
    for (const path of this.#all) {
      const found = this.#lookAt(path);
      if (!found) return;
      if (found.isSymbolicLink())
        throw new ThreadStoreError(
          "store_failed",
          "A directory of .harness is a symbolic link: remove the link",
        );
    }
  }

  /** What is there under a name, or of the directory itself; undefined for nothing. */
  look(name = ""): Stats | undefined {
    return this.#lookAt(join(this.path, name));
  }

  /**
   * Lets other processes see that something in it has changed: no two of them set the same time. Returns that time as it is kept;
   * undefined where another process has changed it since, or the file system counts in larger steps.
   */
  touch(): number | undefined {
    const nowMs = Date.now() + Math.random();
    this.fileSystem.utimesSync(this.path, nowMs / 1000, nowMs / 1000);
    const keptMs = this.look()?.mtimeMs ?? 0;
    return Math.abs(keptMs - nowMs) < touchStepMs ? keptMs : undefined;
  }

  #lookAt(path: string): Stats | undefined {
    try {
      return this.fileSystem.lstatSync(path);
    } catch (error) {
      if (isNotThere(error)) return undefined;
      throw error;
    }
  }

  /** Makes it, and what is missing above it. */
  async make(): Promise<void> {
    this.refuseLinks();
    await makeDirectory(this.path, this.fileSystem);
  }

  /** The names in it; undefined where there is no such directory. */
  async names(): Promise<string[] | undefined> {
    this.refuseLinks();
    return unlessMissing(this.fileSystem.readdir(this.path));
  }

  /** The text of a file, or undefined. Rejects with an `UnsafeFileError` for a link, a device or a larger file. */
  async read(name: string, maxBytes: number): Promise<string | undefined> {
    const { fileSystem } = this;
    return (await unlessMissing(readOwnFile(join(this.path, name), { maxBytes, fileSystem })))?.toString(
      "utf8",
    );
  }

  has(name: string): Promise<boolean> {
    return unlessMissing(this.fileSystem.lstat(join(this.path, name))).then((found) => found !== undefined);
  }

  /** Makes the file. False when there is one already. */
  async create(name: string, text: string): Promise<boolean> {
    this.refuseLinks();
    return createFileAtomic(join(this.path, name), text, this.fileSystem);
  }

  /** Makes or replaces the file. */
  async write(name: string, text: string): Promise<void> {
    this.refuseLinks();
    await writeFileAtomic(join(this.path, name), text, this.fileSystem);
  }

  /** Removes the file. False without one. */
  async remove(name: string): Promise<boolean> {
    return (await unlessMissing(this.fileSystem.rm(join(this.path, name)).then(() => true))) ?? false;
  }

  /** Makes the names in it durable; with `parent`, its own name. */
  sync(of: "names" | "parent" = "names"): Promise<void> {
    return syncDirectory(of === "names" ? this.path : dirname(this.path), this.fileSystem);
  }
}
