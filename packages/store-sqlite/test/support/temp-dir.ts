import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of its own, gone at the end of the scope. */
export const tempDir = async (): Promise<{ path: string } & AsyncDisposable> => {
  const path = await realpath(await mkdtemp(join(tmpdir(), "harness-test-")));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};
