import type { FileHandle } from "node:fs/promises";

const chunkBytes = 64 * 1024;

/** The bytes of an open file from its start, in chunks that are the reader's to keep, at most `maxBytes` in all. */
export async function* readChunks(handle: FileHandle, maxBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < maxBytes; ) {
    const length = Math.min(chunkBytes, maxBytes - position);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The whole content of an open file; undefined if it has more than `maxBytes` bytes. */
export async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of readChunks(handle, maxBytes + 1)) {
    total += chunk.length;
    chunks.push(chunk);
  }
  return total > maxBytes ? undefined : Buffer.concat(chunks, total);
}
