import { acquireFileLock, type FileLock, FileLockError, type FileLockOptions } from "@harnesskit/node-kit";
import { ThreadStoreError } from "../errors.ts";

/** Takes the lock of a thread. Rejects with `thread_locked` while another server holds it, or with `lock_unreadable`. */
export const lockThread = async (path: string, options: FileLockOptions): Promise<FileLock> => {
  try {
    return await acquireFileLock(path, options);
  } catch (error) {
    if (!FileLockError.isInstance(error)) throw error;
    if (error.code === "file_locked")
      throw new ThreadStoreError("thread_locked", "Another server writes this thread");
    const file = path.split(/[\\/]/).slice(-3).join("/");
    throw new ThreadStoreError(
      "lock_unreadable",
      `The lock file ${file} names no server, so it is unknown which one writes the thread: see \`harness doctor\``,
    );
  }
};
