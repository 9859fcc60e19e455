import { existsSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { io } from "./io.ts";
import { conversationsOf } from "./store/location.ts";
import { note } from "./terminal/terminal.ts";
import { checkHarnessDirectory, harnessDirectory, workspaceDirectory } from "./workspace-directory.ts";

/** Whether this user has threads or conversations of a directory: threads lie in its `.harness`, conversations outside of it. */
const isKept = async (directory: string): Promise<boolean> => {
  if (existsSync(conversationsOf(directory).file)) return true;
  const found = await lstat(harnessDirectory(directory)).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid);
};

/**
 * The workspace of a command that goes on with what is kept: `cwd`, or else the nearest directory above it of which this user has threads or
 * conversations, as far as the root of its git repository or the user's home. Says which on standard error where it is another one. Throws as
 * `workspaceDirectory`.
 */
export const keptWorkspace = async (cwd: string): Promise<string> => {
  const from = await workspaceDirectory(cwd);
  const home = await realpath(io().home()).catch(() => undefined);
  let found: string | undefined;
  for (let at = from; ; at = dirname(at)) {
    if (found === undefined && (await isKept(at))) found = at;
    const isEnd = at === home || existsSync(join(at, ".git"));
    // Beyond a repository and the home directory are places of others.
    if (at === dirname(at) && !isEnd) found = undefined;
    if (isEnd || at === dirname(at) || found === from) break;
  }
  if (found === undefined || found === from) return from;
  await checkHarnessDirectory(found);
  note(`harness: in ${found}, the nearest with threads or chats`);
  return found;
};
