import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  isInside,
  openOwnFile,
  sha256Digest,
  sha256Hex,
  systemErrorCode,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { displayText } from "@harnesskit/wire";
import { type ReadEntry, extract as unpack } from "tar";
import { CliError, type Hint } from "../cli-error.ts";

/** What an agent that is installed may hold: files and links, bytes of all files, and how its paths may look. */
export const agentTreeLimits = {
  maxFiles: 5000,
  maxBytes: 64 * 1024 * 1024,
  maxPathLength: 512,
  maxDepth: 32,
} as const;

const { maxFiles, maxBytes, maxPathLength, maxDepth } = agentTreeLimits;

/** An agent that is not installed because of what it holds. */
const unsafeAgent = (message: string, hint?: Hint): CliError =>
  new CliError("agent_unsafe", message, { hint });

/** Why a path inside of an agent is refused. */
const pathProblem = (path: string): string | undefined => {
  if (path.length > maxPathLength) return `exceeds ${maxPathLength} characters`;
  const parts = path.split("/");
  if (parts.length > maxDepth) return `is deeper than ${maxDepth} directories`;
  if (parts.some((part) => part === "" || part === "." || part === "..") || path.includes("\\")) {
    return "leads out of the agent, or is not a plain path";
  }
  return displayText(path) === path ? undefined : "has characters that cannot be shown";
};

/** What to do about an agent that holds too much. */
const bundleHint: Hint = [
  "Pack it with the packages that it needs (npm pack with bundleDependencies), or bundle it into one file",
  { to: "1", run: "npx esbuild agent.mjs --bundle --platform=node --format=esm --outfile=bundle/agent.mjs" },
  { to: "2", run: "cp opensentience.agent.json bundle/" },
  { to: "3", run: "harness agents install ./bundle" },
];

/** Counts what an agent holds. What it returns throws `agent_unsafe` for what is unsafe or too much, before it is copied. */
const treeMeter = () => {
  let [files, bytes] = [0, 0];
  return (path: string, size: number): void => {
    const problem = pathProblem(path);
    if (problem !== undefined) throw unsafeAgent(`the path ${path} of the agent ${problem}`);
    if (++files > maxFiles) throw unsafeAgent(`the agent holds more than ${maxFiles} files`, bundleHint);
    bytes += size;
    if (bytes > maxBytes) throw unsafeAgent(`the agent holds more than ${maxBytes} bytes`, bundleHint);
  };
};

/** What an installed agent is. */
export interface TreeHash {
  /** `sha256:` and the hex digest over one line for each file: its kind, the digest of its content, its path. */
  readonly hash: string;
  readonly files: number;
  readonly bytes: number;
}

/** What is in a directory, but for `.git`: a directory before what is in it. Nothing was copied where it is refused. */
const listTree = async (root: string): Promise<{ readonly path: string; readonly found: Stats }[]> => {
  const add = treeMeter();
  const entries: { path: string; found: Stats }[] = [];
  const visit = async (directory: string): Promise<void> => {
    for (const name of await readdir(join(root, directory))) {
      if (name === ".git") continue;
      const path = directory === "" ? name : `${directory}/${name}`;
      const found = await lstat(join(root, path));
      if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink())
        throw unsafeAgent(`${path} of the agent is neither a file nor a directory`);
      add(path, found.isFile() ? found.size : 0);
      entries.push({ path, found });
      if (found.isDirectory()) await visit(path);
    }
  };
  await visit("");
  return entries;
};

/** Copies what is in `source`, and returns a line for each file and link: what it is, what is in it, where it is. */
const copyTree = async (source: string, target: string) => {
  const entries = await listTree(source);
  const lines: string[] = [];
  const links: string[] = [];
  let bytes = 0;
  await mkdir(target, { mode: 0o700, recursive: true });
  for (const { path, found } of entries) {
    const [from, to] = [join(source, path), join(target, path)];
    if (found.isDirectory()) await mkdir(to, { mode: 0o700 });
    else if (found.isSymbolicLink()) {
      const end = await readlink(from);
      await symlink(end, to);
      links.push(path);
      lines.push(`link ${sha256Hex(end)} ${JSON.stringify(path)}`);
    } else {
      const content = await readFile(from);
      await writeFile(to, content, { mode: found.mode });
      bytes += content.length;
      const kind = (found.mode & 0o100) === 0 ? "file" : "program";
      lines.push(`${kind} ${sha256Hex(content)} ${JSON.stringify(path)}`);
    }
  }
  return { lines, links, bytes };
};

/**
 * Copies the directory of an agent, without `.git`, to one that it makes, and hashes what it has copied: which files there are, what is in them,
 * which of them may be run. Links are copied as they are. Rejects with a `CliError` `agent_unsafe` for what is no file, directory or link, for
 * a link that leads out or nowhere, beyond the limits, and where the directory cannot be read.
 */
export const copyAgent = async (source: string, target: string): Promise<TreeHash> => {
  const { lines, links, bytes } = await copyTree(source, target).catch((error: unknown) => {
    if (CliError.isInstance(error)) throw error;
    throw unsafeAgent(`${source} cannot be read (${systemErrorCode(error) ?? "unknown"})`);
  });
  const root = await realpath(target);
  for (const link of links) {
    const end = await realpath(join(root, link)).catch(() => undefined);
    if (end !== undefined && end !== root && isInside(root, end)) continue;
    throw unsafeAgent(
      `${link} of the agent is a link that leads out of it, or nowhere`,
      "Put what it needs into its directory, as npm pack or a bundler does",
    );
  }
  // By code units, so that the order depends on nothing but the paths.
  const text = lines
    .sort((a, b) => (a < b ? -1 : 1))
    .map((line) => `${line}\n`)
    .join("");
  return { hash: sha256Digest(text), files: lines.length, bytes };
};

const fileTypes = new Set(["File", "OldFile", "ContiguousFile"]);

/** The directory in which all of an archive is, as `npm pack` makes it, or else the one that it was unpacked to. */
const rootOf = async (directory: string): Promise<string> => {
  const [only, ...others] = await readdir(directory, { withFileTypes: true });
  return only?.isDirectory() && others.length === 0 ? join(directory, only.name) : directory;
};

/**
 * Unpacks a tar archive, plain or compressed, to a directory that it makes. Returns the one with the agent's files. Rejects with a `CliError` `agent_unsafe` for links,
 * devices, paths that lead out, what is not a valid archive, and beyond the limits.
 */
export const extractArchive = async (file: string, target: string): Promise<string> => {
  const add = treeMeter();
  let failure: unknown;
  const isTaken = (path: string, entry: ReadEntry | Stats): boolean => {
    if (failure !== undefined || !("path" in entry)) return false;
    try {
      const isDirectory = entry.type === "Directory";
      if (!isDirectory && !fileTypes.has(entry.type))
        throw unsafeAgent(`${path} of the archive is a ${entry.type}: only files and directories are taken`);
      // A directory that cannot be written could not be removed.
      if (isDirectory) entry.mode = 0o700;
      const inside = path.replace(/^(\.\/)+/, "").replace(/\/$/, "");
      if (inside !== "" && inside !== ".") add(inside, entry.size);
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  try {
    await (await openOwnFile(file, { followLinks: true, maxBytes })).close();
    await mkdir(target, { mode: 0o700 });
    await unpack({ file, cwd: target, strict: true, preserveOwner: false, filter: isTaken });
  } catch (error) {
    if (UnsafeFileError.isInstance(error)) throw unsafeAgent(`${file} ${error.problem}`);
    const why = error instanceof Error ? error.message : String(error);
    failure ??= unsafeAgent(`${file} is not a valid archive: ${why}`);
  }
  if (failure !== undefined) throw failure;
  return rootOf(target);
};
