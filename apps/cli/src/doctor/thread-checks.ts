import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  isLockOwnerDead,
  isMissing,
  JournalError,
  openOwnFile,
  readFileLock,
  readOwnFile,
  systemErrorCode,
  UnsafeFileError,
} from "@harnesskit/node-kit";
import { ThreadSchema } from "@harnesskit/protocol/threads";
import { ThreadStoreError } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { shellWord } from "@harnesskit/wire";
import { oneLine } from "../terminal/text.ts";
import { type LastTurn, lastTurnOf } from "../threads/last-turn.ts";
import { type Finding, note, ok, problem } from "./checks.ts";

type Holder = "held" | "dead" | "free";

/** Looks at every thread below `.harness`, and at what is left over beside them. Changes nothing. */
export const checkThreads = async (harness: string): Promise<Finding[]> => {
  const root = join(harness, "threads");
  const findings: Finding[] = [];
  if (!(await isDirectory(harness))) return findings;
  if (!(await isDirectory(root))) findings.push(notOurs("threads", root));
  const entries = findings.length > 0 ? [] : await readdir(root, { withFileTypes: true }).catch(() => []);
  const threads = entries
    .filter((entry) => entry.isDirectory() || entry.name.startsWith("ses_"))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of threads) {
    const { name } = entry;
    if (entry.isDirectory()) findings.push(...(await checkThread(harness, root, name)));
    else findings.push(notOurs(name, join(root, name)));
  }
  findings.push(...(await leftovers(harness)));
  const isFine = findings.every(({ status }) => status !== "problem");
  const count = `${threads.length} ${threads.length === 1 ? "thread" : "threads"}`;
  return isFine ? [...findings, ok("threads", `${count}, nothing left over`)] : findings;
};

/** True for a directory that is not a link, and where nothing exists. */
const isDirectory = async (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => true,
  );

const notOurs = (name: string, path: string): Finding =>
  problem("thread", `${name}: ${path} is not a directory, and is skipped`, moveAway(path));

const moveAway = (path: string): string => {
  const word = shellWord(path);
  return `If no server runs here, move it away: mv ${word} ${word}.old`;
};

/** What lies in the place of a file of the thread and is not read: a link, a FIFO, a device, too many bytes. */
const checkThreadFile = async (name: string, path: string, maxBytes: number): Promise<Finding[]> => {
  try {
    await (await openOwnFile(path, { maxBytes })).close();
  } catch (error) {
    if (isMissing(error)) return [];
    const isUnsafe = UnsafeFileError.isInstance(error);
    const why = isUnsafe ? error.problem : `cannot be opened (${systemErrorCode(error)})`;
    const fix = isUnsafe ? moveAway(path) : `Look at it: ls -l ${shellWord(path)}`;
    return [problem("file", `${name}: ${path} ${why.replace(/:.*$/, "")}`, fix)];
  }
  return [];
};

const maxSmallBytes = 1024 * 1024;
const maxLogBytes = 4 * 1024 ** 3;

const checkThread = async (harness: string, root: string, name: string): Promise<Finding[]> => {
  const directory = join(root, name);
  const findings = await leftovers(directory);
  findings.push(...(await checkThreadFile(name, join(directory, "meta.json"), maxSmallBytes)));
  const log = await checkThreadFile(name, join(directory, "events.jsonl"), maxLogBytes);
  if (log.length > 0) return [...findings, ...log];
  const { holder, finding } = await checkLock(join(directory, "lock.json"), name);
  if (finding) findings.push(finding);
  if (holder === "held") return findings;
  const repair = `The server repairs it when the thread goes on: harness run --thread ${name} "PROMPT"`;
  if (await isTorn(join(directory, "events.jsonl"))) {
    findings.push(problem("log", `${name}: the last line of its log is torn`, repair));
  }
  findings.push(...(await checkMeta(harness, name)));
  let state: LastTurn["state"] | undefined;
  try {
    state = (await lastTurnOf(harness, name))?.state;
  } catch (error) {
    return [...findings, damaged(name, error)];
  }
  if (state === "waits" || state === "interrupted") {
    const what = state === "waits" ? "waits for an answer to an approval" : "was interrupted";
    const fix =
      state === "waits"
        ? `Answer it: harness run --thread ${name}`
        : `No process holds it. Go on with it: harness run --thread ${name} --continue`;
    findings.push(problem("turn", `${name}: its last turn has no end, it ${what}`, fix));
  }
  return findings;
};

const damaged = (name: string, error: unknown): Finding => {
  const cause = ThreadStoreError.isInstance(error) ? error.cause : undefined;
  if (!JournalError.isInstance(cause) || cause.code !== "journal_damaged") throw error;
  const where = `${cause.path}:${cause.line}`;
  const word = shellWord(cause.path);
  return problem(
    "log",
    `${name}: its log is damaged at ${where}, is left as it is, and cannot be read or continued`,
    `Look at it: sed -n ${cause.line}p ${word}. Put back a copy of it, or remove the thread: harness threads delete ${name}`,
  );
};

const checkMeta = async (harness: string, name: string): Promise<Finding[]> => {
  if (!/^ses_[A-Za-z0-9]+$/.test(name)) return [];
  const path = join(harness, "threads", name, "meta.json");
  const thread = await createFileThreadStore({ root: harness })
    .get(name)
    .catch(() => undefined);
  if (!thread) {
    const fix = `Nothing can bring it back but a copy. To have it gone: harness threads delete ${name}`;
    const text = `${name}: neither meta.json nor the log says what thread this is`;
    return [problem("thread", text, fix)];
  }
  if (await isReadable(path)) return [];
  const how = "the log says what was in it, and it is written anew when the thread goes on";
  return [note("thread", `${name}: no thread can be read from ${path}; ${how}`)];
};

const isReadable = async (path: string): Promise<boolean> => {
  try {
    return ThreadSchema.safeParse(
      JSON.parse((await readOwnFile(path, { maxBytes: maxSmallBytes })).toString("utf8")),
    ).success;
  } catch {
    return false;
  }
};

const checkLock = async (path: string, name: string): Promise<{ holder: Holder; finding?: Finding }> => {
  const remove = `rm ${shellWord(path)}`;
  const owner = await readFileLock(path).catch(() => "unreadable" as const);
  if (owner === undefined) return { holder: "free" };
  if (owner === "unreadable") {
    const fix = `If no server runs here, remove it: ${remove}`;
    return { holder: "held", finding: problem("lock", `${name}: the lock names no process`, fix) };
  }
  const holderName = `process ${owner.pid} on ${oneLine(owner.host, 80)}`;
  if (!isLockOwnerDead(owner))
    return { holder: "held", finding: note("lock", `${name}: held by ${holderName}`) };
  const fix = `The next server takes it over. Or remove it: ${remove}`;
  return {
    holder: "dead",
    finding: problem("lock", `${name}: left by ${holderName}, which is no longer running`, fix),
  };
};

const leftovers = async (directory: string): Promise<Finding[]> => {
  const names = (await readdir(directory).catch(() => [])).sort();
  return names
    .filter((name) => /\.tmp_[0-9a-f]+$/.test(name) || name.endsWith(".stale"))
    .map((name) => {
      const path = join(directory, name);
      const fix = `If no server runs here, remove it: rm ${shellWord(path)}`;
      return problem("leftover", path, fix);
    });
};

const isTorn = async (path: string): Promise<boolean> => {
  const file = await openOwnFile(path).catch(() => undefined);
  if (!file) return false;
  try {
    const { size } = await file.stat();
    if (size === 0) return false;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] !== 0x0a;
  } finally {
    await file.close();
  }
};
