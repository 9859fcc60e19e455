import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, link, lstat, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path/posix";
import { systemErrorCode } from "@harnesskit/node-kit";
import { changedError, toFileError } from "./file-errors.ts";
import { type FileSnapshot, identityOf, type PresentFile } from "./file-snapshot.ts";
import { PinnedDirectory } from "./pinned-directory.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Puts `content` at a canonical path in one step: readers see the old content or the new one, never a part.
 * Makes missing directories. Keeps the mode, and the owner where the system lets it.
 * Throws `ToolError`: `tool.changed` if the path is no longer as in `before`, otherwise as for any file.
 */
export async function replaceFile(
  workspace: Workspace,
  path: string,
  content: Buffer,
  before: FileSnapshot,
): Promise<void> {
  const directory = await PinnedDirectory.open(workspace, dirname(path), { create: !before.exists });
  const name = path.slice(path.lastIndexOf("/") + 1);
  const target = directory.path(name);
  const temporary = directory.path(`.${randomBytes(8).toString("hex")}.harness-tmp`);
  try {
    if (before.exists) await access(target, constants.W_OK);
    await writeNew(temporary, content, before);
    if (before.exists) {
      await assertUntouched(target, before, path);
      await rename(temporary, target);
    } else {
      await publishNew(temporary, target, path);
    }
  } catch (error) {
    throw toFileError(error, path);
  } finally {
    await unlink(temporary).catch(() => undefined);
    await directory.close();
  }
}

async function writeNew(temporary: string, content: Buffer, before: FileSnapshot): Promise<void> {
  const handle = await open(temporary, "wx", before.exists ? before.mode & 0o600 : 0o666);
  try {
    await handle.writeFile(content);
    if (before.exists) {
      // Only root may give a file away; for others the new file stays their own.
      await handle.chown(before.owner.uid, before.owner.gid).catch(() => undefined);
      await handle.chmod(before.mode);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function assertUntouched(target: string, before: PresentFile, path: string): Promise<void> {
  const now = await lstat(target, { bigint: true });
  if (identityOf(now) !== before.identity) throw changedError(path);
}

/** A hard link fails where something has appeared, a rename would replace it. */
async function publishNew(temporary: string, target: string, path: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
    const appeared = await lstat(target).then(
      () => true,
      () => false,
    );
    if (appeared) throw changedError(path);
    await rename(temporary, target);
  }
}
