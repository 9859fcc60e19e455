import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { sha256Digest, sha256Hex } from "@harnesskit/node-kit";
import { unsafeAgent } from "./agent-tree.ts";

/** What an installed agent is. */
export interface TreeHash {
  /** `sha256:` and the hex digest over one line for each file: its kind, the digest of its content, its path. */
  readonly hash: string;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Hashes all files of a copy that this program has made: which there are, what is in them, which of them may be run. Rejects with a
 * `CliError` `agent_unsafe` for a link that leads out or nowhere.
 */
export const hashTree = async (root: string): Promise<TreeHash> => {
  const real = await realpath(root);
  const lines: string[] = [];
  let bytes = 0;

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
    const content = await readFile(place);
    bytes += content.length;
    const kind = ((await lstat(place)).mode & 0o100) === 0 ? "file" : "program";
    return `${kind} ${sha256Hex(content)} ${JSON.stringify(path)}`;
  };

  const visit = async (path: string): Promise<void> => {
    for (const entry of await readdir(join(real, path), { withFileTypes: true })) {
      const inside = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) await visit(inside);
      else lines.push(await (entry.isSymbolicLink() ? linkLine : fileLine)(inside));
    }
  };

  await visit("");
  // By code units, so that the order depends on nothing but the paths.
  const text = lines
    .sort((a, b) => (a < b ? -1 : 1))
    .map((line) => `${line}\n`)
    .join("");
  return { hash: sha256Digest(text), files: lines.length, bytes };
};
