import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifPresent, UnsafeFileError } from "@harnesskit/node-kit";
import type { ThreadStore } from "@harnesskit/thread-server";
import { CliError } from "../cli-error.ts";
import { harnessDirectory } from "../workspace-directory.ts";

/** Threads in the files below a directory's `.harness`. */
export interface ThreadFiles {
  readonly directory: string;
  readonly threads: ThreadStore;
}

/** Copies what a thread has written beside its events to a thread that has nothing of it yet. */
export const copyArtifacts = async (
  { directory, threads }: ThreadFiles,
  to: ThreadStore,
  threadId: string,
): Promise<void> => {
  const path = join(harnessDirectory(directory), "threads", threadId, "artifacts");
  for (const name of ((await ifPresent(readdir(path))) ?? []).sort()) {
    const writer = await to.openArtifact(threadId, name);
    try {
      for await (const part of threads.readArtifact(threadId, name)) await writer.write(part);
    } catch (cause) {
      if (!UnsafeFileError.isInstance(cause)) throw cause;
      throw new CliError("copy_failed", `the artifact ${name} of the thread ${threadId} ${cause.problem}`, {
        hint: "Remove it, and copy again: what was copied stays.",
        cause,
      });
    }
    await writer.close();
  }
};
