import { createHash } from "node:crypto";
import { type ArtifactWriter, ThreadStoreError } from "@harnesskit/thread-server";
import { toTextKey } from "@harnesskit/wire/json";
import type { Database } from "./database.ts";

/** What one row holds at least, except for the last. */
const partBytes = 256 * 1024;

/** What is a file's name everywhere. */
const isName = (name: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/.test(name);

/**
 * Begins an artifact, in rows of the database; its path is `postgresql:threads/{threadId}/artifacts/{name}`. With `epoch`, parts
 * are added only while that lease of the thread is held.
 */
export const openArtifact = async (
  database: Database,
  threadId: string,
  name: string,
  epoch: number | undefined,
): Promise<ArtifactWriter> => {
  if (!isName(name)) throw new ThreadStoreError("store_failed", "The name of the artifact is not valid");
  const hash = createHash("sha256");
  const { maxArtifactBytes } = database.options.limits;
  let sizeBytes = 0;
  let part = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const add = async () => {
    const content = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    // A transaction: the first part of an artifact is inserted once, whatever becomes of the connection.
    const added = await database.write(({ query }) =>
      query(
        `INSERT INTO store.thread_artifacts (thread_id, name, part, content)
         SELECT thread_id, $2, $3, $4 FROM store.threads
         WHERE thread_id = $1 AND ($5::bigint IS NULL OR (lease_epoch = $5 AND lease_until > clock_timestamp()))
         FOR SHARE ON CONFLICT DO NOTHING RETURNING 1`,
        ...[toTextKey(threadId), name, part++, content, epoch ?? null],
      ),
    );
    if (added.length === 0) {
      throw new ThreadStoreError("store_failed", "The thread is not held, or its artifact exists already");
    }
  };
  await add();
  return {
    async write(given) {
      const bytes = typeof given === "string" ? Buffer.from(given, "utf8") : Buffer.from(given);
      if (sizeBytes + bytes.length > maxArtifactBytes) {
        throw new ThreadStoreError(
          "store_full",
          `The artifact exceeds maxArtifactBytes of ${maxArtifactBytes}`,
        );
      }
      sizeBytes += bytes.length;
      hash.update(bytes);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= partBytes) await add();
    },
    async close() {
      if (waitingBytes > 0) await add();
      const path = `postgresql:threads/${threadId}/artifacts/${name}`;
      return { path, sizeBytes, sha256: hash.digest("hex") };
    },
  };
};

/** The parts of an artifact, one statement each. */
export async function* artifactParts(
  database: Database,
  threadId: string,
  name: string,
): AsyncIterable<Uint8Array> {
  for (let part = 0; ; part++) {
    const [row] = await database.query(
      "SELECT content FROM store.thread_artifacts WHERE thread_id = $1 AND name = $2 AND part = $3",
      ...[toTextKey(threadId), toTextKey(name), part],
    );
    if (row === undefined) return;
    const { content } = row;
    if (!(content instanceof Uint8Array))
      throw new ThreadStoreError("store_failed", "The artifact is corrupt");
    if (content.length > 0) yield content;
  }
}
