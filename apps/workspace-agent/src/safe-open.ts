import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { systemErrorCode } from "@harnesskit/node-kit";
import { changedError, notAFileError, toFileError } from "./file-errors.ts";
import type { Workspace } from "./workspace.ts";

// Not every system has these; there the checks after opening stand alone.
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;
const directoryOnly = constants.O_DIRECTORY ?? 0;

/** Flags that open a directory and never a link to one. */
export const directoryFlags = constants.O_RDONLY | directoryOnly | noFollow;

/**
 * Opens a regular file of the workspace for reading and makes sure that what was opened is that file.
 * Takes a canonical path. Never blocks on a FIFO, never follows a link.
 * Throws `ToolError` `tool.not_found`, `tool.not_a_file`, `tool.changed`, `tool.outside_workspace` or `tool.failed`.
 */
export async function openRegularFile(workspace: Workspace, path: string): Promise<FileHandle> {
  const absolute = await workspace.verify(path);
  let handle: FileHandle | undefined;
  try {
    assertRegular(await lstat(absolute), path);
    handle = await open(absolute, constants.O_RDONLY | noFollow | nonBlocking);
    assertRegular(await handle.stat(), path);
    await assertHandleAt(handle, absolute, path);
    return handle;
  } catch (error) {
    await handle?.close();
    throw toFileError(error, path);
  }
}

/**
 * Opens a directory and makes sure that it is the one at the absolute path, reached without a link.
 * Throws what `open` throws, or `ToolError` `tool.changed`.
 */
export async function openDirectoryAt(absolute: string, path: string): Promise<FileHandle> {
  const handle = await open(absolute, directoryFlags);
  try {
    await assertHandleAt(handle, absolute, path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * A name for an open directory that keeps meaning this directory whatever happens to the path.
 * Undefined where the system has no `/proc`.
 */
export async function pinnedPath(handle: FileHandle): Promise<string | undefined> {
  const link = `/proc/self/fd/${handle.fd}`;
  return (await readLink(link)) === undefined ? undefined : link;
}

async function assertHandleAt(handle: FileHandle, absolute: string, path: string): Promise<void> {
  const actual = await readLink(`/proc/self/fd/${handle.fd}`);
  if (actual !== undefined) {
    if (actual !== absolute) throw changedError(path);
    return;
  }
  const [held, real] = await Promise.all([handle.stat({ bigint: true }), realpath(absolute)]);
  const named = await stat(real, { bigint: true });
  if (real !== absolute || held.ino !== named.ino || held.dev !== named.dev) throw changedError(path);
}

async function readLink(link: string): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    return await readlink(link);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "EACCES") return undefined;
    throw error;
  }
}

function assertRegular(found: Stats, path: string): void {
  if (found.isFile()) return;
  if (found.isSymbolicLink()) throw changedError(path);
  if (found.isDirectory()) throw notAFileError(path, "a directory");
  if (found.isFIFO()) throw notAFileError(path, "a FIFO");
  if (found.isSocket()) throw notAFileError(path, "a socket");
  throw notAFileError(path, "a device");
}
