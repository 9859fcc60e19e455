import { lstat } from "node:fs/promises";
import { conversationsOf } from "../store/location.ts";
import { type Finding, ok, problem } from "./checks.ts";

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Why a store's file cannot be used; undefined for one that is whole. */
const damageOf = async (file: string): Promise<string | undefined> => {
  // A store that was opened once is never empty.
  const found = await lstat(file);
  if (found.isFile() && found.size === 0) return "the file is empty: what was in it is lost";
  try {
    const { checkSqliteStore } = await import("@harnesskit/store-sqlite");
    await checkSqliteStore({ file });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Whether the file of a directory's conversations can be used and is whole; nothing where there is none. */
export const checkConversations = async (directory: string): Promise<Finding[]> => {
  const { file } = conversationsOf(directory);
  if (!(await isThere(file))) return [];
  const damage = await damageOf(file);
  if (damage === undefined) return [ok("chats", `${file} is whole`)];
  // SQLite would read the log of a file that was moved into the next one: they move together.
  const fix = "End what uses it, and put back a copy, or move it away with its -wal and -shm";
  return [problem("chats", `${file} cannot be used: ${damage}`, fix)];
};
