import { isMissing, systemErrorCode } from "@harnesskit/node-kit";
import { StoreError } from "../errors.ts";
import type { StoreFileSystem } from "./store-file-system.ts";

/**
 * Makes sure that none of these paths is a symbolic link: a workspace that somebody else made must not lead what is
 * written there to another place. What does not exist is no link. Throws `store_failed`.
 */
export const refuseLinks = async (fileSystem: StoreFileSystem, paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    try {
      if (!(await fileSystem.lstat(path)).isSymbolicLink()) continue;
    } catch (error) {
      if (isMissing(error) || systemErrorCode(error) === "ENOTDIR") return;
      throw error;
    }
    throw new StoreError("store_failed", "A directory of .harness is a symbolic link: remove the link");
  }
};
