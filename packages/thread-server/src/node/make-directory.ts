import { dirname, resolve } from "node:path";
import { type StoreFileSystem, syncDirectory } from "./store-file-system.ts";

/** Makes a directory, mode 0700, and what is missing above it. What was made is still there after a power loss. */
export const makeDirectory = async (fileSystem: StoreFileSystem, path: string): Promise<void> => {
  const first = await fileSystem.mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  for (let parent = dirname(resolve(path)); parent.length >= top.length; parent = dirname(parent)) {
    await syncDirectory(fileSystem, parent);
    if (parent === top) return;
  }
};
