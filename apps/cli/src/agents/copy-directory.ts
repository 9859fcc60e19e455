import type { Dirent } from "node:fs";
import { readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { oneLine } from "../terminal/text.ts";
import type { AgentTreeLimits } from "./agent-limits.ts";
import { bundleHint, TreeMeter, TreeWriter, unsafeAgent } from "./agent-tree.ts";

/** Not a part of an agent. */
const leftOut = new Set([".git"]);

const entryKindOf = (entry: Dirent): "file" | "directory" | "link" | "other" => {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
};

class Copier {
  readonly #source: string;
  readonly #meter: TreeMeter;
  readonly #writer: TreeWriter;

  constructor(source: string, target: string, limits: AgentTreeLimits) {
    this.#source = source;
    this.#meter = new TreeMeter(limits);
    this.#writer = new TreeWriter(target);
  }

  async directory(path: string): Promise<void> {
    const place = join(this.#source, path);
    // A directory that was replaced by a link meanwhile would lead elsewhere.
    if ((await realpath(place)) !== place) throw unsafeAgent(`${oneLine(place)} changed while it was copied`);
    const entries = await readdir(place, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inside = path === "" ? entry.name : `${path}/${entry.name}`;
      const kind = entryKindOf(entry);
      if (leftOut.has(entry.name)) continue;
      if (kind === "other")
        throw unsafeAgent(`${oneLine(inside)} of the agent is neither a file nor a directory`);
      this.#meter.path(inside);
      if (kind === "directory") await this.directory(inside);
      else if (kind === "link") await this.#writer.link(inside, await readlink(join(this.#source, inside)));
      else await this.#file(inside);
    }
  }

  async #file(path: string): Promise<void> {
    const file = await openOwnFile(join(this.#source, path), { maxBytes: this.#meter.bytesLeft }).catch(
      (error) => {
        if (!UnsafeFileError.isInstance(error)) throw error;
        if (error.reason !== "too_large") throw unsafeAgent(`${oneLine(path)} of the agent ${error.problem}`);
        throw unsafeAgent(`${oneLine(path)} of the agent is too large`, bundleHint);
      },
    );
    try {
      const { size, mode } = await file.stat();
      this.#meter.bytes(size);
      const bytes = Buffer.alloc(size);
      let length = 0;
      while (length < size) {
        const { bytesRead } = await file.read(bytes, length, size - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      await this.#writer.file(path, bytes.subarray(0, length), (mode & 0o111) !== 0);
    } finally {
      await file.close();
    }
  }
}

/**
 * Copies the directory of an agent, without `.git`. Links are copied as they are. Rejects with a `CliError` `agent_unsafe`
 * for what is no file, directory or link, and beyond the limits; `agent_not_found` where the directory cannot be read.
 */
export const copyAgentDirectory = async (
  source: string,
  target: string,
  limits: AgentTreeLimits,
): Promise<void> => {
  let real: string;
  try {
    real = await realpath(source);
    await readdir(real);
  } catch (cause) {
    throw unsafeAgent(`${oneLine(source)} cannot be read (${systemErrorCode(cause) ?? "unknown"})`);
  }
  await new Copier(real, target, limits).directory("");
};
