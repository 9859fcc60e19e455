import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Does work in a new temporary directory, which is removed afterwards. */
export const withDirectory = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "harness-guard-")));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
};
