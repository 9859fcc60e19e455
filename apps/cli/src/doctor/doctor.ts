import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { join } from "node:path";
import { isLockOwnerDead, JournalError, privatePathProblem, readFileLock } from "@harnesskit/node-kit";
import { type ThreadStore, ThreadStoreError } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { shellWord } from "@harnesskit/wire";
import { readEnabledAgents } from "../agents/conversation-agents.ts";
import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { languageModelCommand } from "../serve/models.ts";
import { conversationsOf } from "../store/location.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { checkWritable, harnessDirectory, resolveWorkspace } from "../workspace-directory.ts";

/** What a check found. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "note" | "problem";
  readonly text: string;
  readonly fix?: string;
}

export const ok = (check: string, text: string): Finding => ({ check, status: "ok", text });
export const note = (check: string, text: string): Finding => ({ check, status: "note", text });
export const problem = (check: string, text: string, fix: string): Finding => ({
  check,
  status: "problem",
  text,
  fix,
});

const [minMajor, minMinor] = [20, 19] as const;
const keyNames = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"];

export const checkNode = (version: string): Finding => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > minMajor || (major === minMajor && minor >= minMinor);
  const wanted = `${minMajor}.${minMinor}`;
  return isEnough
    ? ok("node", version)
    : problem("node", `${version} is too old`, `Install Node ${wanted} or later: https://nodejs.org`);
};

/** Looks for the ripgrep of the search tools, whose path `find` returns. */
export const checkRipgrep = async (find: () => Promise<string>): Promise<Finding> => {
  try {
    const path = await find();
    await access(path, constants.X_OK);
    return ok("ripgrep", path);
  } catch {
    const wanted = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return problem(
      "ripgrep",
      "not installed: the tools glob and grep do not work",
      `Install the optional dependency ${wanted}: npm install --include=optional`,
    );
  }
};

/** Whether a language model can be used: the names of the keys that are set. No value is looked at beyond that. */
export const checkKeys = (env: NodeJS.ProcessEnv): Finding => {
  const present = keyNames.filter((name) => (env[name] ?? "").trim() !== "");
  return present.length === 0
    ? {
        ...note("model", `no language model is configured: none of ${keyNames.join(", ")} is set`),
        fix: `Set the key of yours, for example: ${languageModelCommand()}. Until then the offline planner works`,
      }
    : ok("model", `${present.join(", ")} ${present.length === 1 ? "is" : "are"} set`);
};

/** Whether the default policy of `harness serve` and `harness run` can be read. */
const checkPolicy = async (): Promise<Finding> => {
  try {
    const { readShippedPolicy } = await import("../ahp/policy-file.ts");
    const { name, rules, file } = await readShippedPolicy();
    const text = `${name}, ${rules.length} rules: in force unless --policy, --ahp or --no-policy is given`;
    return ok("policy", `${text} (${file})`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problem(
      "policy",
      `the policy that ships cannot be read: ${why}`,
      "Install the program anew; until then: --policy FILE",
    );
  }
};

/** Whether threads can be kept: `.harness` is a private directory, or can be created. */
const checkDirectory = async (workspace: string): Promise<Finding> => {
  const harness = harnessDirectory(workspace);
  const found = await lstat(harness).catch(() => undefined);
  const word = shellWord(harness);
  const wrong = found && privatePathProblem(found, { kind: "directory", othersMay: "nothing" });
  if (wrong !== undefined)
    return problem(
      "directory",
      `${harness} ${wrong}`,
      `Close it: chmod 700 ${word}, or move it away: mv ${word} ${word}.old`,
    );
  try {
    await checkWritable(workspace);
  } catch (error) {
    return problem("directory", (error as Error).message, "Make it writable, or use --cwd");
  }
  return ok(
    "directory",
    found ? `${harness} is private and writable` : `${harness} does not exist yet and can be made`,
  );
};

/** Looks at every thread below `.harness`. What the next server repairs by itself is not named. Changes nothing. */
const checkThreads = async (harness: string): Promise<Finding[]> => {
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
const checkConversations = async (directory: string): Promise<Finding[]> => {
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

/** `harness doctor`: what could keep the harness from working here, and what to do about it. Changes nothing. */
export const doctor = async ({
  cwd,
  json,
}: {
  readonly cwd: string;
  readonly json?: true;
}): Promise<ExitCode> => {
  const workspace = await resolveWorkspace(cwd);
  const harness = harnessDirectory(workspace);
  const findings: Finding[] = [
    checkNode(process.versions.node),
    await checkDirectory(workspace),
    await checkPolicy(),
    ...(await checkThreads(harness)),
    ...(await checkConversations(workspace)),
    ...(await checkAgents()),
    await checkRipgrep(async () => (await import("@harnesskit/workspace-agent")).findRipgrep()),
    checkKeys(io().env),
  ];
  const problems = findings.filter(({ status }) => status === "problem").length;
  const terminal = createTerminal();
  if (json) terminal.json({ ok: problems === 0, findings });
  else {
    for (const finding of findings) terminal.say(findingLines(finding, terminal), hang);
    const verdict = problems === 0 ? "Everything is fine." : `${problems} to look at, see the arrows above.`;
    terminal.say(["", verdict]);
  }
  return problems === 0 ? ExitCode.done : ExitCode.failed;
};

/** Whether the agents that are enabled are as they were then; nothing where none is. */
const checkAgents = async (): Promise<Finding[]> => {
  const leftOut: string[] = [];
  const enabled = await readEnabledAgents((line) => leftOut.push(line));
  const names = enabled.map(({ agentId }) => agentId).join(", ");
  return [
    ...(enabled.length === 0 ? [] : [ok("agents", `enabled: ${names}`)]),
    ...leftOut.map((line) => problem("agents", line, "See what is installed: harness agents list")),
  ];
};

const hang = " ".repeat(13);

const findingLines = ({ check, status, text, fix }: Finding, { style }: Terminal): string[] => {
  const sign = { ok: style.green("✓"), note: style.dim("-"), problem: style.red("✗") }[status];
  const line = `${sign} ${check.padEnd(9)}  ${text}`;
  return fix === undefined ? [line] : [line, `${hang}${style.yellow("→")} ${fix}`];
};
