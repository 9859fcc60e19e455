import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ifPresent, openOwnFile, UnsafeFileError } from "@harnesskit/node-kit";
import type { ThreadStore } from "@harnesskit/thread-server";
import { CliError } from "../cli-error.ts";
import { harnessDirectory } from "../workspace-directory.ts";

/** What threads have written beside their events. */
export interface Artifacts {
  artifacts(threadId: string): Promise<string[]>;
  readArtifact(threadId: string, name: string): AsyncIterable<Uint8Array>;
}

/** Opens a file that the server has made: no link is followed, and nothing else is waited for. */
const openArtifact = async (threadId: string, path: string, name: string) => {
  try {
    return await openOwnFile(join(path, name));
  } catch (cause) {
    if (!UnsafeFileError.isInstance(cause)) throw cause;
    throw new CliError("copy_failed", `the artifact ${name} of the thread ${threadId} ${cause.problem}`, {
      hint: "Remove it, and copy again: what was copied stays.",
      cause,
    });
  }
};

/** The artifacts of the threads below a directory's `.harness`. */
export const artifactFiles = (directory: string): Artifacts => {
  const pathOf = (threadId: string) => join(harnessDirectory(directory), "threads", threadId, "artifacts");
  return {
    artifacts: async (threadId) => ((await ifPresent(readdir(pathOf(threadId)))) ?? []).sort(),
    async *readArtifact(threadId, name) {
      const file = await openArtifact(threadId, pathOf(threadId), name);
      yield* file.createReadStream();
    },
  };
};

/** Copies the artifacts of a thread that has none yet. */
export const copyArtifacts = async (from: Artifacts, to: ThreadStore, threadId: string): Promise<void> => {
  for (const name of await from.artifacts(threadId)) {
    const writer = await to.openArtifact(threadId, name);
    for await (const part of from.readArtifact(threadId, name)) await writer.write(part);
    await writer.close();
  }
};
