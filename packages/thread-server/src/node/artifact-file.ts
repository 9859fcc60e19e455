import { createHash } from "node:crypto";
import { join } from "node:path";
import { ifPresent, isExisting, openOwnFile } from "@harnesskit/node-kit";
import type { ArtifactWriter } from "../thread-store.ts";
import { type StoreDirectory, toFileStoreError } from "./store-directory.ts";

/** Begins a file that must not exist yet, mode 0600. One that could not be written to its end is removed. */
export const openArtifactFile = async (directory: StoreDirectory, name: string): Promise<ArtifactWriter> => {
  const { fileSystem } = directory;
  try {
    // Not with what is above it: a thread that was deleted does not come back.
    await fileSystem.mkdir(directory.path, { mode: 0o700 });
    await directory.sync("parent");
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
  const path = join(directory.path, name);
  const file = await fileSystem.open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const orRemove = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await file.close().catch(() => {});
      await fileSystem.rm(path, { force: true });
      throw toFileStoreError(error);
    }
  };
  return {
    write: (part) =>
      orRemove(async () => {
        const bytes = typeof part === "string" ? Buffer.from(part, "utf8") : part;
        hash.update(bytes);
        for (let done = 0; done < bytes.length; ) {
          done += (await file.write(bytes, done, bytes.length - done, sizeBytes + done)).bytesWritten;
        }
        sizeBytes += bytes.length;
      }),
    close: () =>
      orRemove(async () => {
        await file.datasync();
        await file.close();
        await directory.sync();
        return { path, sizeBytes, sha256: hash.digest("hex") };
      }),
  };
};

/** The bytes of one; none where it is not there. No link is followed at its name. */
export async function* readArtifactFile(directory: StoreDirectory, name: string): AsyncIterable<Uint8Array> {
  const file = await ifPresent(openOwnFile(join(directory.path, name)));
  if (file !== undefined) yield* file.createReadStream();
}
