import { constants } from "node:fs";
import { access, lstat, readFile, realpath, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  isInside,
  isMissing,
  isOwnedByUser,
  makeDirectory,
  systemErrorCode,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { displayText } from "@harnesskit/wire";
import { SettingsError, type SettingsErrorCode } from "./settings-error.ts";

const maxBytes = 4 * 1024 * 1024;

const refusal = (code: SettingsErrorCode, path: string, why: string, cause?: unknown): SettingsError =>
  new SettingsError(code, `${shownPath(path)} ${why}`, { cause });

const shownPath = (path: string): string => displayText(path, { maxLength: 500 });

/** A settings file as it was read. */
export interface SettingsFile {
  readonly path: string;
  /** Where it lies, links followed; the path itself where nothing is there. */
  readonly realPath: string;
  /** Undefined where nothing is there. */
  readonly text: string | undefined;
  /** Rights of the file. */
  readonly mode: number;
}

/** The real path of what exists of a path, and the rest of it. */
const resolveExisting = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // A link to nothing would be replaced by a file.
    if (await lstat(path).catch(() => undefined)) {
      throw refusal(
        "settings_link",
        path,
        "is a link to a file that does not exist: remove it, or make that file",
      );
    }
    return join(await resolveExisting(dirname(path)), path.slice(dirname(path).length + 1));
  }
};

const unreadable = (path: string, why: string, cause?: unknown): SettingsError =>
  refusal("settings_unreadable", path, why, cause);

/**
 * Reads a settings file. Links are followed, as the hosts do; within a project only to what is in it. Rejects with a {@link SettingsError}
 * for a file that this user must not change.
 *
 * @param inside the project that the file must stay in, real path; undefined for the user's own settings
 */
export const readSettingsFile = async (path: string, inside: string | undefined): Promise<SettingsFile> => {
  let realPath: string;
  try {
    realPath = await resolveExisting(path);
  } catch (error) {
    if (SettingsError.isInstance(error)) throw error;
    throw unreadable(path, `cannot be reached (${systemErrorCode(error) ?? "unknown"})`, error);
  }
  if (inside !== undefined && !isInside(inside, realPath)) {
    const text = `leads out of the project, to ${shownPath(realPath)}: remove the link, or use --user`;
    throw refusal("settings_link", path, text);
  }
  const found = await stat(realPath).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw unreadable(path, "cannot be read", error);
  });
  if (!found) return { path, realPath, text: undefined, mode: 0o600 };
  if (!found.isFile()) throw unreadable(path, "is not a regular file: remove it");
  if (found.size > maxBytes) throw unreadable(path, `has more than ${maxBytes} bytes`);
  if (!isOwnedByUser(found)) {
    throw refusal("settings_not_own", path, "belongs to another user: ask its owner to change it");
  }
  // Root may write everything, and a file without the right was closed on purpose.
  const isClosed = (found.mode & 0o200) === 0;
  const canWrite = await access(dirname(realPath), constants.W_OK).then(
    () => !isClosed,
    () => false,
  );
  if (!canWrite) {
    throw refusal("settings_read_only", path, "is read-only: allow writing first, with chmod u+w");
  }
  const bytes = await readFile(realPath).catch((error: unknown) => {
    throw unreadable(path, "cannot be read", error);
  });
  const text = bytes.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(bytes)) throw unreadable(path, "is not UTF-8");
  return { path, realPath, text, mode: found.mode & 0o7777 };
};

/** The directories above a path that do not exist, the outermost first. */
const missingDirectories = async (path: string): Promise<string[]> => {
  const directory = dirname(path);
  if (await stat(directory).catch(() => undefined)) return [];
  return [...(await missingDirectories(directory)), directory];
};

/**
 * Writes the content in place of what was read, or removes the file for undefined. Its rights stay as they are. Returns the directories that
 * were made for it. Rejects with `settings_changed` where the file is not any more as it was read; then nothing is changed.
 */
export const replaceSettingsFile = async (
  read: SettingsFile,
  text: string | undefined,
  inside: string | undefined,
): Promise<readonly string[]> => {
  const now = await readSettingsFile(read.path, inside);
  if (now.text !== read.text || now.realPath !== read.realPath) {
    const text = "was changed by another program meanwhile: run the command again";
    throw refusal("settings_changed", read.path, text);
  }
  if (text === undefined) {
    await rm(read.realPath, { force: true });
    return [];
  }
  const made = await missingDirectories(read.realPath);
  await makeDirectory(dirname(read.realPath));
  await writeFileAtomic(read.realPath, text, undefined, now.mode);
  return made;
};

/** Removes directories that are empty, the innermost first; leaves the others. */
export const removeEmptyDirectories = async (directories: readonly string[]): Promise<void> => {
  for (const directory of [...directories].reverse()) {
    try {
      await rmdir(directory);
    } catch {
      return;
    }
  }
};
