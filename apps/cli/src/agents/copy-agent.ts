import type { Stats } from "node:fs";
import { cp, lstat, mkdir, readdir, realpath } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { type ReadEntry, extract as unpack } from "tar";
import { CliError } from "../cli-error.ts";
import { agentTreeLimits, TreeMeter, unsafeAgent } from "./agent-tree.ts";

/**
 * Copies the directory of an agent, without `.git`. Links are copied as they are. Rejects with a `CliError` `agent_unsafe`
 * for what is no file, directory or link, beyond the limits, and where the directory cannot be read.
 */
export const copyAgentDirectory = async (source: string, target: string): Promise<void> => {
  const meter = new TreeMeter();
  const isCopied = async (root: string, place: string): Promise<boolean> => {
    if (place === root) return true;
    if (basename(place) === ".git") return false;
    const path = relative(root, place).split(sep).join("/");
    const found = await lstat(place);
    if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink())
      throw unsafeAgent(`${path} of the agent is neither a file nor a directory`);
    meter.add(path, found.isFile() ? found.size : 0);
    return true;
  };
  try {
    const root = await realpath(source);
    await readdir(root);
    await cp(root, target, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (place) => isCopied(root, place),
    });
  } catch (error) {
    if (CliError.isInstance(error)) throw error;
    throw unsafeAgent(`${source} cannot be read (${systemErrorCode(error) ?? "unknown"})`);
  }
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
  const meter = new TreeMeter();
  let failure: unknown;
  const isTaken = (path: string, entry: ReadEntry | Stats): boolean => {
    if (failure !== undefined || !("path" in entry)) return false;
    try {
      if (entry.type !== "Directory" && !fileTypes.has(entry.type))
        throw unsafeAgent(`${path} of the archive is a ${entry.type}: only files and directories are taken`);
      const inside = path.replace(/^(\.\/)+/, "").replace(/\/$/, "");
      if (inside !== "" && inside !== ".") meter.add(inside, entry.size);
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  try {
    await (await openOwnFile(file, { followLinks: true, maxBytes: agentTreeLimits.maxBytes })).close();
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
