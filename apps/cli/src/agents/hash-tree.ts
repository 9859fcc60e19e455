import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { readOwnFile, sha256Digest, sha256Hex, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { CliError } from "../cli-error.ts";
import type { AgentTreeLimits } from "./agent-limits.ts";
import { TreeMeter, unsafeAgent } from "./agent-tree.ts";

/** What an installed agent is. */
export interface TreeHash {
  /** `sha256:` and the hex digest over one line for each file: its kind, the digest of its content, its path. */
  readonly hash: string;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Hashes all files of an installed agent: which there are, what is in them, which of them may be run. Rejects with a
 * `CliError` `agent_unsafe` for a link that leads out or nowhere, for what is no file, and beyond the limits.
 */
export const hashTree = async (root: string, limits: AgentTreeLimits): Promise<TreeHash> => {
  const meter = new TreeMeter(limits);
  const real = await realpath(root);
  const lines: string[] = [];
  let bytes = 0;

  const visit = async (path: string): Promise<void> => {
    const place = path === "" ? real : join(real, path);
    for (const entry of await readdir(place, { withFileTypes: true })) {
      const inside = path === "" ? entry.name : `${path}/${entry.name}`;
      meter.path(inside);
      if (entry.isDirectory()) await visit(inside);
      else if (entry.isSymbolicLink()) lines.push(await linkLine(inside));
      else lines.push(await fileLine(inside));
    }
  };

  const linkLine = async (path: string): Promise<string> => {
    const place = join(real, path);
    const end = await realpath(place).catch(() => undefined);
    if (end === undefined || !end.startsWith(real + sep)) {
      throw unsafeAgent(
        `${path} of the agent is a link that leads out of it, or nowhere`,
        "Put what it needs into its directory, as npm pack or a bundler does",
      );
    }
    return `link ${sha256Hex(await readlink(place))} ${JSON.stringify(path)}`;
  };

  const fileLine = async (path: string): Promise<string> => {
    const place = join(real, path);
    const content = await readOwnFile(place, { maxBytes: Math.max(0, meter.bytesLeft) });
    meter.bytes(content.length);
    bytes += content.length;
    const kind = ((await lstat(place)).mode & 0o100) === 0 ? "file" : "program";
    return `${kind} ${sha256Hex(content)} ${JSON.stringify(path)}`;
  };

  try {
    await visit("");
  } catch (cause) {
    if (CliError.isInstance(cause)) throw cause;
    if (UnsafeFileError.isInstance(cause)) throw unsafeAgent(`${cause.path} ${cause.problem}`);
    throw new CliError(
      "agent_unreadable",
      `${root} cannot be read (${systemErrorCode(cause) ?? "unknown"})`,
      { cause },
    );
  }
  // By code units, so that the order depends on nothing but the paths.
  const text = lines
    .sort((a, b) => (a < b ? -1 : 1))
    .map((line) => `${line}\n`)
    .join("");
  return { hash: sha256Digest(text), files: lines.length, bytes };
};
