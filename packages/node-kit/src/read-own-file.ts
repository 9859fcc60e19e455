import { type OpenOwnFileOptions, openOwnFile, tooLarge } from "./open-own-file.ts";

export interface ReadOwnFileOptions extends Pick<OpenOwnFileOptions, "followLinks" | "fileSystem"> {
  /** Bytes that the file may have; no more are read, whatever size the system reports. */
  readonly maxBytes: number;
}

/** Room beside a file's size, so that one that does not grow is read in two calls. */
const spareBytes = 1;
/** Of a file whose size is not known. */
const minChunkBytes = 4096;

/**
 * Reads a whole file of this program's own; see {@link openOwnFile} for what is refused. Rejects with an
 * `UnsafeFileError`, and with what the system says.
 */
export const readOwnFile = async (path: string, options: ReadOwnFileOptions): Promise<Buffer> => {
  const { maxBytes } = options;
  const file = await openOwnFile(path, options);
  try {
    const { size } = await file.stat();
    const chunks: Buffer[] = [];
    for (let length = 0; ; ) {
      const left = Math.min(size, maxBytes) - length + spareBytes;
      const chunk = Buffer.alloc(Math.max(minChunkBytes, left));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, length);
      if (bytesRead === 0) return Buffer.concat(chunks, length);
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
      if (length > maxBytes) throw tooLarge(path, maxBytes);
    }
  } finally {
    await file.close();
  }
};
