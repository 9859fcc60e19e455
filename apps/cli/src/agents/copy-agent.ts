import type { Stats } from "node:fs";
import { cp, lstat, readdir, realpath } from "node:fs/promises";
import { basename, relative, sep } from "node:path";
import { openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { list, type ReadEntry, extract as unpack } from "tar";
import { CliError } from "../cli-error.ts";
import type { AgentTreeLimits } from "./agent-limits.ts";
import { TreeMeter, unsafeAgent } from "./agent-tree.ts";

/**
 * Copies the directory of an agent, without `.git`. Links are copied as they are. Rejects with a `CliError` `agent_unsafe`
 * for what is no file, directory or link, beyond the limits, and where the directory cannot be read.
 */
export const copyAgentDirectory = async (
  source: string,
  target: string,
  limits: AgentTreeLimits,
): Promise<void> => {
  const meter = new TreeMeter(limits);
  const isCopied = async (root: string, place: string): Promise<boolean> => {
    if (place === root) return true;
    if (basename(place) === ".git") return false;
    const path = relative(root, place).split(sep).join("/");
    const found = await lstat(place);
    if (!found.isFile() && !found.isDirectory() && !found.isSymbolicLink())
      throw unsafeAgent(`${path} of the agent is neither a file nor a directory`);
    meter.path(path);
    if (found.isFile()) meter.bytes(found.size);
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

const pathOf = ({ path }: ReadEntry): string => path.replace(/^(\.\/)+/, "").replace(/\/$/, "");

/** The paths of an archive's files, once all that it holds may be taken. */
const judgeArchive = async (file: string, limits: AgentTreeLimits): Promise<readonly string[]> => {
  const meter = new TreeMeter(limits);
  const paths: string[] = [];
  const take = (entry: ReadEntry): void => {
    const path = pathOf(entry);
    if (entry.type === "Directory") {
      if (path !== "" && path !== ".") meter.path(path);
      return;
    }
    if (!fileTypes.has(entry.type))
      throw unsafeAgent(`${path} of the archive is a ${entry.type}: only files and directories are taken`);
    meter.path(path);
    meter.bytes(entry.size);
    paths.push(path);
  };
  let failure: unknown;
  await list({
    file,
    strict: true,
    onReadEntry(entry) {
      try {
        if (failure === undefined) take(entry);
      } catch (error) {
        failure = error;
      }
    },
  });
  if (failure !== undefined) throw failure;
  return paths;
};

/** Takes the files of an archive, by the paths that they were judged by. */
const asJudged = (_: string, entry: ReadEntry | Stats): boolean => {
  if (!("path" in entry) || !fileTypes.has(entry.type)) return false;
  entry.path = pathOf(entry);
  return true;
};

/** Whether all is in one directory, as `npm pack` makes it; it is left out. */
const hasCommonDirectory = (paths: readonly string[]): boolean => {
  const prefix = `${paths[0]?.split("/")[0]}/`;
  return paths.every((path) => path.startsWith(prefix));
};

/**
 * Unpacks a tar archive, plain or compressed. Rejects with a `CliError` `agent_unsafe` for links, devices, paths that lead out,
 * what is not a valid archive, and beyond the limits; then nothing was written.
 */
export const extractArchive = async (
  file: string,
  target: string,
  limits: AgentTreeLimits,
): Promise<void> => {
  try {
    await (await openOwnFile(file, { followLinks: true, maxBytes: limits.maxArchiveBytes })).close();
    const paths = await judgeArchive(file, limits);
    const strip = hasCommonDirectory(paths) ? 1 : 0;
    await unpack({ file, cwd: target, strict: true, strip, preserveOwner: false, filter: asJudged });
  } catch (error) {
    if (CliError.isInstance(error)) throw error;
    if (UnsafeFileError.isInstance(error)) throw unsafeAgent(`${file} ${error.problem}`);
    const why = error instanceof Error ? error.message : String(error);
    throw unsafeAgent(`${file} is not a valid archive: ${why}`);
  }
};
