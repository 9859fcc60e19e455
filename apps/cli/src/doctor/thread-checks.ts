import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, openOwnFile, readOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { type Event, ThreadSchema } from "@harnesskit/protocol/threads";
import { createFileThreadStore, isDead, readLock } from "@harnesskit/thread-server/node";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { type Finding, note, ok, problem } from "./finding.ts";
import { checkLog } from "./log-check.ts";

/** Who writes a thread: a living process, or one that cannot be asked; a dead one; nobody. */
type Holder = "held" | "dead" | "nobody";

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
    else findings.push(notOurs(oneLine(name, 80), join(root, name)));
  }
  findings.push(...(await leftovers(harness)));
  const isFine = findings.every(({ status }) => status !== "problem");
  const count = `${threads.length} ${threads.length === 1 ? "thread" : "threads"}`;
  return isFine ? [...findings, ok("threads", `${count}, nothing left over`)] : findings;
};

/** True for a directory that is no link, and where nothing is. */
const isDirectory = async (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => true,
  );

const notOurs = (name: string, path: string): Finding =>
  problem(
    "thread",
    `${name}: ${oneLine(path, 1000)} is no directory, and is passed over`,
    `Remove it: rm ${oneLine(shellWord(path), 1000)}`,
  );

/** What lies in the place of a file of the thread and is not read: a link, a FIFO, a device, too many bytes. */
const checkFile = async (name: string, path: string, maxBytes: number): Promise<Finding[]> => {
  try {
    await (await openOwnFile(path, { maxBytes })).close();
  } catch (error) {
    if (isMissing(error)) return [];
    const why = UnsafeFileError.isInstance(error)
      ? error.problem
      : `cannot be opened (${systemErrorCode(error)})`;
    const remove = `If no server runs here, remove it: rm -r ${oneLine(shellWord(path), 1000)}`;
    return [problem("file", `${name}: ${oneLine(path, 1000)} ${why.replace(/:.*$/, "")}`, remove)];
  }
  return [];
};

const maxSmallBytes = 1024 * 1024;
const maxLogBytes = 4 * 1024 ** 3;

const checkThread = async (harness: string, root: string, name: string): Promise<Finding[]> => {
  const directory = join(root, name);
  const findings = await leftovers(directory);
  const shown = oneLine(name, 80);
  findings.push(...(await checkFile(shown, join(directory, "meta.json"), maxSmallBytes)));
  const log = await checkFile(shown, join(directory, "events.jsonl"), maxLogBytes);
  if (log.length > 0) return [...findings, ...log];
  const { holder, finding } = await checkLock(join(directory, "lock.json"), oneLine(name, 80));
  if (finding) findings.push(finding);
  if (holder === "held") return findings;
  const repair = `The server repairs it when the thread goes on: harness run --thread ${oneLine(name, 80)} "PROMPT"`;
  if (await isTorn(join(directory, "events.jsonl"))) {
    findings.push(problem("log", `${oneLine(name, 80)}: the last line of its log is torn`, repair));
  }
  findings.push(...(await checkLog(oneLine(name, 80), join(directory, "events.jsonl"))));
  findings.push(...(await checkMeta(harness, name)));
  const state = await lastTurn(harness, name);
  if (state !== undefined) {
    const what = state === "waits" ? "waits for an answer to an approval" : "was interrupted";
    const fix =
      state === "waits"
        ? `Answer it: harness run --thread ${oneLine(name, 80)}`
        : `Nobody holds it. Go on: harness run --thread ${oneLine(name, 80)} "PROMPT"`;
    findings.push(problem("turn", `${oneLine(name, 80)}: its last turn has no end, it ${what}`, fix));
  }
  return findings;
};

/** Looks whether it can be told what thread this is: from its own file, or from its log. */
const checkMeta = async (harness: string, name: string): Promise<Finding[]> => {
  if (!/^ses_[A-Za-z0-9]+$/.test(name)) return [];
  const path = join(harness, "threads", name, "meta.json");
  const thread = await createFileThreadStore({ root: harness })
    .get(name)
    .catch(() => undefined);
  if (!thread) {
    const fix = `Nothing can bring it back but a copy. To have it gone: harness threads delete ${name}`;
    const text = `${oneLine(name, 80)}: neither meta.json nor the log says what thread this is`;
    return [problem("thread", text, fix)];
  }
  if (await isReadable(path)) return [];
  const how = "the log says what was in it, and it is written anew when the thread goes on";
  return [note("thread", `${oneLine(name, 80)}: no thread can be read from ${oneLine(path, 1000)}; ${how}`)];
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
  const remove = `rm ${oneLine(shellWord(path), 1000)}`;
  const owner = await readLock(path).catch(() => "unreadable" as const);
  if (owner === undefined) return { holder: "nobody" };
  if (owner === "unreadable") {
    const fix = `If no server runs here, remove it: ${remove}`;
    return { holder: "held", finding: problem("lock", `${name}: the lock names nobody`, fix) };
  }
  const who = `process ${owner.pid} on ${oneLine(owner.host, 80)}`;
  if (!isDead(owner)) return { holder: "held", finding: note("lock", `${name}: held by ${who}`) };
  const fix = `The next server takes it over. Or remove it: ${remove}`;
  return { holder: "dead", finding: problem("lock", `${name}: left by ${who}, which is dead`, fix) };
};

/** Temporary files and markers that a process left when it was killed. */
const leftovers = async (directory: string): Promise<Finding[]> => {
  const names = (await readdir(directory).catch(() => [])).sort();
  return names
    .filter((name) => /\.tmp_[0-9a-f]+$/.test(name) || name.endsWith(".stale"))
    .map((name) => {
      const path = join(directory, name);
      const fix = `If no server runs here, remove it: rm ${oneLine(shellWord(path), 1000)}`;
      return problem("leftover", oneLine(path, 1000), fix);
    });
};

/** True when a log does not end with a line end: its writer died in the last line. */
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

/** How the last turn of a thread stands when it has no end. */
const lastTurn = async (harness: string, name: string): Promise<"waits" | "interrupted" | undefined> => {
  const store = createFileThreadStore({ root: harness });
  if (!(await store.get(name).catch(() => undefined))) return undefined;
  let isOpen = false;
  const waiting = new Set<string>();
  for await (const event of store.events(name)) {
    isOpen = standing(event, isOpen);
    if (event.type === "approval.requested") waiting.add(event.data.itemId);
    if (event.type === "item.completed") waiting.delete(event.data.itemId);
    if (!isOpen) waiting.clear();
  }
  if (!isOpen) return undefined;
  return waiting.size > 0 ? "waits" : "interrupted";
};

const standing = ({ type }: Event, isOpen: boolean): boolean => {
  if (type === "turn.started") return true;
  return type === "turn.completed" || type === "turn.error" ? false : isOpen;
};
