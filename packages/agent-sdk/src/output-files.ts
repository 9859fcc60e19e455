import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeDirectory, sha256Hex } from "@harnesskit/node-kit";
import type { OutputReference } from "@harnesskit/protocol/runtime";

/**
 * Outputs that are too large for a message, each as a JSON file of mode 0600 in a directory of mode 0700, which is made
 * for the first one.
 */
export class OutputFiles {
  readonly #parent: string;
  readonly #maxTotalBytes: number;
  readonly #sizes = new Map<string, number>();
  #totalBytes = 0;
  #directory: Promise<string> | undefined;
  #stopWatchingExit: (() => void) | undefined;

  /** The private directory is made in `parent`. */
  constructor(parent: string, maxTotalBytes: number) {
    this.#parent = resolve(parent);
    this.#maxTotalBytes = maxTotalBytes;
  }

  /** Writes one output, which is not larger than all files may be. Rejects with what the file system says. */
  async store(text: string, bytes: number): Promise<OutputReference> {
    const directory = await this.#open();
    const path = join(directory, `${randomUUID()}.json`);
    this.#sizes.set(path, bytes);
    this.#totalBytes += bytes;
    try {
      await this.#makeRoom(path);
      await writeFile(path, text, { mode: 0o600, flag: "wx" });
    } catch (error) {
      await this.#forget(path);
      throw error;
    }
    const sha256 = sha256Hex(text);
    return { output_file: { path, size_bytes: bytes, sha256 }, truncated: true };
  }

  /** Removes the files. */
  async close(): Promise<void> {
    const made = this.#directory;
    this.#directory = undefined;
    this.#sizes.clear();
    this.#totalBytes = 0;
    this.#stopWatchingExit?.();
    this.#stopWatchingExit = undefined;
    const directory = await made?.catch(() => undefined);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  #open(): Promise<string> {
    this.#directory ??= this.#make().catch((error: unknown) => {
      this.#directory = undefined;
      throw error;
    });
    return this.#directory;
  }

  async #make(): Promise<string> {
    await makeDirectory(this.#parent);
    const directory = await mkdtemp(join(this.#parent, "harness-output-"));
    const remove = () => rmSync(directory, { recursive: true, force: true });
    process.on("exit", remove);
    this.#stopWatchingExit = () => process.off("exit", remove);
    return directory;
  }

  async #makeRoom(newest: string): Promise<void> {
    for (const path of [...this.#sizes.keys()]) {
      if (this.#totalBytes <= this.#maxTotalBytes || path === newest) return;
      await this.#forget(path);
    }
  }

  async #forget(path: string): Promise<void> {
    const bytes = this.#sizes.get(path);
    if (bytes === undefined) return;
    this.#sizes.delete(path);
    this.#totalBytes -= bytes;
    await rm(path, { force: true });
  }
}
