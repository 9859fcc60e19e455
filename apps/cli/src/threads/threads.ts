import { existsSync } from "node:fs";
import type { Grant } from "@harnesskit/protocol/threads";
import { ask } from "../ask.ts";
import { type StoredChat, storedChats } from "../chat/stored-chats.ts";
import { CliError, logFailure, refusedError, usageError } from "../cli-error.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { threadNotFound } from "../run/failures.ts";
import { conversationsIn } from "../store/location.ts";
import { proseFor } from "../terminal/prose.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { formatTime, oneLine } from "../terminal/text.ts";
import { View } from "../timeline/view.ts";
import { toolSubject } from "../timeline/words.ts";
import { harnessDirectory, logFile } from "../workspace-directory.ts";
import { type LastTurn, lastTurnOf } from "./last-turn.ts";
import {
  noteUnreadable,
  openStoredThreads,
  removeThread,
  type StoredThreads,
  storedThread,
  unreadableOf,
} from "./stored-threads.ts";
import { storedThreadId } from "./thread-ids.ts";
import { threadRowText } from "./thread-row.ts";

interface ThreadsListOptions extends PlaceOptions {
  /** Only those in the archive. @default only those that are not */
  readonly archived?: true;
}

const maxChats = 50;

/** The conversations of `harness chat` in a directory; none where its file cannot be read, which `harness doctor` names. */
const chatsIn = async (workspace: string): Promise<readonly StoredChat[]> => {
  const location = conversationsIn({}, workspace);
  if (location.kind !== "sqlite" || !existsSync(location.file)) return [];
  // A list of threads alone needs no database.
  const { openSqliteStore } = await import("@harnesskit/store-sqlite");
  try {
    const store = await openSqliteStore({ file: location.file });
    return await storedChats(store, maxChats).finally(() => store.close());
  } catch (error) {
    logFailure("harness threads: the conversations of harness chat", error);
    return [];
  }
};

/** `harness threads list`: the threads and conversations below a directory, the one used last first. */
export const listThreads = async ({ cwd, json, archived }: ThreadsListOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const all = await stored.store.list();
  const threads = all.filter(({ time }) => (time.archived !== undefined) === (archived ?? false));
  const chats = archived ? [] : await chatsIn(stored.workspace);
  const terminal = createTerminal();
  if (json) {
    terminal.json({ threads, chats, ...unreadableOf(stored) });
    return;
  }
  noteUnreadable(stored);
  const { style } = terminal;
  if (threads.length === 0 && archived) {
    terminal.say(`No archived threads in ${stored.workspace}`);
    return;
  }
  if (threads.length + chats.length === 0) {
    terminal.say(`No threads in ${stored.workspace}. Begin one: harness run "PROMPT"`);
    return;
  }
  const rows = [
    ...threads.map(({ threadId: id, title, time }) => ({
      id,
      title,
      updatedAtMs: time.updated,
      isChat: false,
    })),
    ...chats.map(({ sessionId: id, title, updatedAtMs }) => ({ id, title, updatedAtMs, isChat: true })),
  ].sort((one, other) => other.updatedAtMs - one.updatedAtMs);
  const ids = rows.map(({ id }) => id);
  for (const { isChat, ...row } of rows) {
    const open = isChat ? undefined : openTurnText(await openTurnOf(stored, row.id))?.short;
    const state = open === undefined ? (isChat ? style.dim("chat") : undefined) : style.yellow(open);
    terminal.say(threadRowText({ ...row, state }, ids, terminal));
    await terminal.ready();
  }
  if (chats.length > 0) terminal.say(style.dim("To continue a chat: harness chat --session ID"));
};

/** How a turn without an end stands; of a thread whose log cannot be read nothing is said. */
const openTurnOf = ({ workspace }: StoredThreads, threadId: string): Promise<LastTurn | undefined> =>
  lastTurnOf(harnessDirectory(workspace), threadId).catch(() => undefined);

const openTurnText = (turn: LastTurn | undefined, threadId = "") => {
  const command = `harness run --thread ${threadId}`;
  switch (turn?.state) {
    case "running":
      return { short: "running", whole: "the last turn has no end: a server holds the thread" };
    case "waits":
      return { short: "waits for an answer", whole: `the last turn waits for an answer: ${command}` };
    case "interrupted":
      return {
        short: "interrupted",
        whole: `the last turn was interrupted. To go on with it: ${command} --continue`,
      };
    default:
      return undefined;
  }
};

interface PlaceOptions {
  readonly cwd: string;
  readonly json?: true;
}

/** `harness threads show`: the timeline of a stored thread. */
export const showThread = async (given: string, { cwd }: PlaceOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const threadId = await storedThreadId(stored.workspace, given);
  const { title, directory, time, forkedFrom, queued } = await storedThread(stored, threadId);
  const terminal = createTerminal();
  const { style } = terminal;
  const dim = (line: string) => terminal.say(style.dim(line));
  terminal.say(style.bold(title));
  dim(`${threadId} · ${formatTime(time.created)} · ${directory}`);
  if (forkedFrom) dim(`forked from ${forkedFrom.threadId} at event ${forkedFrom.seq}`);
  if (time.archived !== undefined) dim(`archived ${formatTime(time.archived)}`);
  if (queued !== undefined)
    terminal.say(style.yellow(queued === 1 ? "1 prompt waits" : `${queued} prompts wait`));
  terminal.say("");
  const view = new View({ terminal, openProse: await proseFor(terminal) });
  for await (const event of stored.store.events(threadId)) {
    view.show(event);
    await terminal.ready();
  }
  view.breakLine();
  const open = openTurnText(await openTurnOf(stored, threadId), threadId);
  // The command is there to be copied: a line break would end it.
  if (open !== undefined) terminal.exact(["", style.yellow(`… ${open.whole}`)]);
  terminal.say(["", style.dim(`log  ${logFile(stored.workspace, threadId)}`)]);
};

/** `harness threads export`: the events as JSON lines. */
export const exportThread = async (given: string, { cwd }: PlaceOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const threadId = await storedThreadId(stored.workspace, given);
  await storedThread(stored, threadId);
  const terminal = createTerminal();
  for await (const event of stored.store.events(threadId)) {
    terminal.json(event);
    await terminal.ready();
  }
};

interface DeleteOptions extends PlaceOptions {
  /** @default the user is asked */
  readonly yes?: true;
}

/** Throws a usage error where there is no terminal to ask at, and `refused` where the user says no. */
const confirmDelete = async (stored: StoredThreads, threadId: string): Promise<void> => {
  // What cannot be read can be removed, too.
  const thread = await stored.store.get(threadId).catch(() => undefined);
  const title = thread === undefined ? "" : ` "${oneLine(thread.title, 60)}"`;
  const answer = await ask(
    `Remove ${oneLine(threadId, 80)}${title} for good?`,
    "Yes, with its log, artifacts and grants",
    "No, keep it",
  );
  if (answer === undefined) {
    const run = `harness threads delete ${oneLine(threadId, 80)} --yes`;
    throw usageError("There is no terminal to ask at", { to: "To remove it without a question", run });
  }
  if (!answer) throw refusedError("refused", "Nothing was removed");
};

/** `harness threads delete`: removes a thread with what belongs to it, once the user said yes. Throws where a server writes it. */
export const deleteThread = async (given: string, { cwd, yes }: DeleteOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const threadId = await storedThreadId(stored.workspace, given);
  if (!yes) await confirmDelete(stored, threadId);
  const outcome = await removeThread(stored, threadId);
  if (outcome === "gone") throw threadNotFound(threadId, stored.workspace);
  if (outcome === "locked") {
    throw new CliError("thread_locked", `${threadId} is in use by a server`, {
      hint: { to: "End that server first. To find it", run: "harness doctor" },
    });
  }
  createTerminal().say(`Removed ${threadId} with its log, artifacts and grants`);
};

/** `harness grants list`: what was allowed for always, the last answer first. */
export const listGrants = async ({ cwd, json }: PlaceOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const grants = (await stored.store.grants()).sort((a, b) => b.time - a.time);
  const terminal = createTerminal();
  if (json) {
    terminal.json({ grants });
    return;
  }
  if (grants.length === 0) {
    terminal.say(`No calls are always allowed in ${stored.workspace}`);
    return;
  }
  const { style } = terminal;
  for (const grant of grants) {
    const { grantId, time, tool, input, match, grantedBy } = grant;
    const what = `${style.bold(oneLine(tool, 40))} ${toolSubject(tool, input)}${match ? "*" : ""}`;
    const facts = `${formatTime(time)} · ${reachOf(grant)} · by ${oneLine(grantedBy, 100)}`;
    const text = [`${grantId}  ${what}`, `  ${style.dim(facts)}`];
    terminal.say(text, "  ");
    await terminal.ready();
  }
};

const reachOf = ({ scope, threadId, directory }: Grant): string =>
  scope === "thread" ? `in the thread ${threadId}` : `in every thread of ${directory}`;

/** `harness grants revoke`: revokes a grant. Throws if it does not exist. */
export const revokeGrant = async (given: string, { cwd }: PlaceOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const grantId = idWithPrefix(
    given,
    (await stored.store.grants()).map((grant) => grant.grantId),
  );
  if (await stored.store.removeGrant(grantId)) {
    createTerminal().say(`Revoked ${grantId}: you will be asked again`);
    return;
  }
  throw new CliError("grant_not_found", `There is no grant ${grantId} in ${stored.workspace}`, {
    hint: { to: "See what there is", run: "harness grants list" },
  });
};
