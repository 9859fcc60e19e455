import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isLockOwnerDead, JournalError, readFileLock } from "@harnesskit/node-kit";
import { type ThreadStore, ThreadStoreError } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { shellWord } from "@harnesskit/wire";
import { conversationsOf } from "../store/location.ts";
import { oneLine } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./checks.ts";

/** Looks at every thread below `.harness`. What the next server repairs by itself is not named. Changes nothing. */
export const checkThreads = async (harness: string): Promise<Finding[]> => {
  if ((await isDirectory(harness)) !== true) return [];
  const root = join(harness, "threads");
  if ((await isDirectory(root)) === false) {
    const word = shellWord(root);
    return [problem("threads", `${root} is not a directory`, `Move it away: mv ${word} ${word}.old`)];
  }
  const findings: Finding[] = [];
  const store = createFileThreadStore({
    root: harness,
    onError: (error, { threadId }) => findings.push(unusable(threadId, error)),
  });
  const threads = await store.list();
  for (const { threadId } of threads) findings.push(...(await checkThread(store, harness, threadId)));
  const count = `${threads.length} ${threads.length === 1 ? "thread" : "threads"}`;
  return findings.length > 0 ? findings : [ok("threads", `${count}, nothing left over`)];
};

/** No link is followed. Undefined where nothing is. */
const isDirectory = (path: string): Promise<boolean | undefined> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => undefined,
  );

/** The place of the first wrong line is that of the log that was read. */
const describe = (error: ThreadStoreError): string => {
  const { cause } = error;
  const isDamage = JournalError.isInstance(cause) && cause.code === "journal_damaged";
  return isDamage ? `its log is damaged at ${cause.path}:${cause.line}, and is left as it is` : error.message;
};

const unusable = (id: string, error: ThreadStoreError): Finding =>
  problem(
    "thread",
    `${id}: ${describe(error)}`,
    `Put back a copy of it, or remove it: harness threads delete ${id}`,
  );

const checkThread = async (store: ThreadStore, harness: string, id: string): Promise<Finding[]> => {
  const lock = join(harness, "threads", id, "lock.json");
  const owner = await readFileLock(lock).catch(() => "unreadable" as const);
  if (owner === "unreadable") {
    const fix = `If no server runs here, remove it: rm ${shellWord(lock)}`;
    return [problem("lock", `${id}: the lock names no process`, fix)];
  }
  if (owner !== undefined && !isLockOwnerDead(owner))
    return [note("lock", `${id}: held by process ${owner.pid} on ${oneLine(owner.host, 80)}`)];
  try {
    for await (const _ of store.events(id));
    return [];
  } catch (error) {
    if (!ThreadStoreError.isInstance(error)) throw error;
    return [unusable(id, error)];
  }
};

/** Whether the file of a directory's conversations can be used and is whole; nothing where there is none. */
export const checkConversations = async (directory: string): Promise<Finding[]> => {
  const { file } = conversationsOf(directory);
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) return [];
  try {
    // A store that was opened once is never empty.
    if (found.isFile() && found.size === 0) throw new TypeError("the file is empty: what was in it is lost");
    const { checkSqliteStore } = await import("@harnesskit/store-sqlite");
    await checkSqliteStore({ file });
    return [ok("chats", `${file} is whole`)];
  } catch (error) {
    // SQLite would read the log of a file that was moved into the next one: they move together.
    const fix = "End what uses it, and put back a copy, or move it away with its -wal and -shm";
    return [problem("chats", `${file} cannot be used: ${(error as Error).message}`, fix)];
  }
};
