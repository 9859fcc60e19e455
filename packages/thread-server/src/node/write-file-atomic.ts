import { dirname } from "node:path";
import { randomId } from "@harnesskit/wire";
import { isExisting } from "./store-failure.ts";
import { type StoreFileSystem, syncDirectory } from "./store-file-system.ts";

/** Writes the text to a new file beside `path`, on disk, and hands it to `place`. Never leaves it behind. Mode 0600. */
const withTemporary = async (
  fileSystem: StoreFileSystem,
  path: string,
  text: string,
  place: (temporary: string) => Promise<void>,
): Promise<void> => {
  const temporary = `${path}.${randomId("tmp")}`;
  try {
    const file = await fileSystem.open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await place(temporary);
  } finally {
    await fileSystem.rm(temporary, { force: true });
  }
};

/** Replaces a file as a whole: whoever reads sees the old text or the new one, also after a crash. */
export const writeFileAtomic = (fileSystem: StoreFileSystem, path: string, text: string): Promise<void> =>
  withTemporary(fileSystem, path, text, async (temporary) => {
    await fileSystem.rename(temporary, path);
    await syncDirectory(fileSystem, dirname(path));
  });

/** Makes a file with its whole text at once. False when there is one already. */
export const createFileAtomic = async (
  fileSystem: StoreFileSystem,
  path: string,
  text: string,
): Promise<boolean> => {
  try {
    await withTemporary(fileSystem, path, text, (temporary) => fileSystem.link(temporary, path));
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
  await syncDirectory(fileSystem, dirname(path));
  return true;
};
