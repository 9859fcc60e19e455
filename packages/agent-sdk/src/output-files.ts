import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "@harnesskit/node-kit";
import type { OutputReference } from "@harnesskit/protocol/runtime";

/** Bytes of all output files at one time; the oldest are removed for a new one. */
const defaultMaxBytes = 256 * 1024 * 1024;

/**
 * Outputs that are too large for a message, each as a JSON file of mode 0600 in a directory of mode 0700, which is made
 * for the first one in the system's directory for temporary files.
 */
export class OutputFiles {
  readonly maxBytes: number;
  /** The size of each, by its path; the oldest first. */
  readonly #sizes = new Map<string, number>();
  #totalBytes = 0;
  #directory: Promise<string> | undefined;
  #stopWatchingExit: (() => void) | undefined;

  constructor(maxBytes = defaultMaxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Writes one output, which is not larger than all files may be. Rejects with what the file system says. */
  async store(text: string, bytes: number): Promise<OutputReference> {
    this.#directory ??= this.#make();
    const path = join(await this.#directory, `${randomUUID()}.json`);
    this.#sizes.set(path, bytes);
    this.#totalBytes += bytes;
    try {
      for (const oldest of this.#sizes.keys()) {
        if (this.#totalBytes <= this.maxBytes || oldest === path) break;
        await this.#forget(oldest);
      }
      await writeFile(path, text, { mode: 0o600, flag: "wx" });
    } catch (error) {
      await this.#forget(path);
      throw error;
    }
    return { output_file: { path, size_bytes: bytes, sha256: sha256Hex(text) }, truncated: true };
  }

  /** Removes the files. */
  async close(): Promise<void> {
    const made = this.#directory;
    this.#directory = undefined;
    this.#sizes.clear();
    this.#totalBytes = 0;
    this.#stopWatchingExit?.();
    const directory = await made?.catch(() => undefined);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  async #make(): Promise<string> {
    try {
      const directory = await mkdtemp(join(tmpdir(), "harness-output-"));
      const remove = () => rmSync(directory, { recursive: true, force: true });
      process.on("exit", remove);
      this.#stopWatchingExit = () => process.off("exit", remove);
      return directory;
    } catch (error) {
      this.#directory = undefined;
      throw error;
    }
  }

  async #forget(path: string): Promise<void> {
    this.#totalBytes -= this.#sizes.get(path) ?? 0;
    this.#sizes.delete(path);
    await rm(path, { force: true });
  }
}
