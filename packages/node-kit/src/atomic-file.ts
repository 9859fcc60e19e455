import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { nodeFileSystem, syncDirectory, type WritableFileSystem } from "./file-system.ts";
import { isExisting } from "./system-error.ts";

/** The end of the name that a file has until it is in its place. */
export const temporaryName: RegExp = /\.tmp_[0-9a-f]+$/;

/** What a new file holds, which may depend on its inode. */
export type FileText = string | ((inode: number) => string);

/** Writes the string to a new file beside `path`, on disk, and hands it to `place`, which takes it away. Never leaves it behind. */
const withTemporary = async (
  path: string,
  text: FileText,
  fileSystem: WritableFileSystem,
  place: (temporary: string) => Promise<void>,
  mode = 0o600,
): Promise<void> => {
  const temporary = `${path}.tmp_${randomBytes(8).toString("hex")}`;
  try {
    const file = await fileSystem.open(temporary, "wx", 0o600);
    try {
      await file.writeFile(typeof text === "string" ? text : text((await file.stat()).ino));
      if (mode !== 0o600) await file.chmod(mode);
      await file.datasync();
    } finally {
      await file.close();
    }
    await place(temporary);
  } catch (error) {
    await fileSystem.rm(temporary, { force: true });
    throw error;
  }
};

/**
 * Removes what writers of this file left that were killed before it was in its place. For the only writer: the caller holds the
 * lock of the file. Rejects as the system does.
 */
export const removeTemporaries = async (path: string): Promise<void> => {
  const directory = dirname(path);
  const name = basename(path);
  for (const found of await readdir(directory)) {
    const isOfFile = found.startsWith(name) && found.search(temporaryName) === name.length;
    if (isOfFile) await rm(join(directory, found), { force: true });
  }
};

/**
 * Replaces a file as a whole: a reader sees the old text or the new one, also after a crash. What lay at the
 * path, a link or a FIFO too, is replaced and not written through. Rejects as the system does.
 *
 * @param mode the mode of the new file, default 0600; for a file of another program that keeps its own
 */
export const writeFileAtomic = (
  path: string,
  text: FileText,
  fileSystem: WritableFileSystem = nodeFileSystem,
  mode?: number,
): Promise<void> =>
  withTemporary(
    path,
    text,
    fileSystem,
    async (temporary) => {
      await fileSystem.rename(temporary, path);
      await syncDirectory(dirname(path), fileSystem);
    },
    mode,
  );

/** Makes a file with its whole text at once, mode 0600. False when there is one already. Rejects as the system does. */
export const createFileAtomic = async (
  path: string,
  text: FileText,
  fileSystem: WritableFileSystem = nodeFileSystem,
): Promise<boolean> => {
  try {
    await withTemporary(path, text, fileSystem, async (temporary) => {
      await fileSystem.link(temporary, path);
      await fileSystem.rm(temporary, { force: true });
    });
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
  await syncDirectory(dirname(path), fileSystem);
  return true;
};
