import {
  type SearchHit,
  type Thread,
  type ThreadMethodName,
  type ThreadMethodParams,
  threadMethods,
} from "@harnesskit/protocol/threads";
import type { SearchPage } from "@harnesskit/thread-client";
import { usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal, emit } from "../terminal/terminal.ts";
import { formatTime, oneLine } from "../terminal/text.ts";
import { type PlaceOptions, withThreads } from "./thread-place.ts";
import { shortId } from "./thread-row.ts";

/** Throws a usage error for params that the method does not take. */
const checked = <M extends ThreadMethodName>(
  method: M,
  params: ThreadMethodParams<M>,
): ThreadMethodParams<M> => {
  const parsed = threadMethods[method].params.safeParse(params);
  if (parsed.success) return parsed.data as ThreadMethodParams<M>;
  const [issue] = parsed.error.issues;
  throw usageError(`${issue?.path.join(".") ?? "the value"}: ${issue?.message ?? "not valid"}`);
};

const say = (lines: string | readonly string[]): void => void createTerminal().say(lines);

const nameOf = ({ threadId, title }: Thread): string => `${threadId}  ${title}`;

/** `harness threads rename`. */
export const renameCommand = async (threadId: string, title: string, place: PlaceOptions): Promise<void> => {
  checked("thread.rename", { threadId, title });
  const thread = await withThreads(threadId, place, (client, id) => client.renameThread(id, title));
  say(`Renamed ${nameOf(thread)}`);
};

/** `harness threads archive`. */
export const archiveCommand = async (threadId: string, place: PlaceOptions): Promise<void> => {
  const thread = await withThreads(threadId, place, (client, id) => client.archiveThread(id));
  say(`Archived ${nameOf(thread)}`);
};

/** `harness threads unarchive`. */
export const unarchiveCommand = async (threadId: string, place: PlaceOptions): Promise<void> => {
  const thread = await withThreads(threadId, place, (client, id) => client.unarchiveThread(id));
  say(`Restored ${nameOf(thread)}`);
};

export interface ForkCommandOptions extends PlaceOptions {
  readonly at?: number;
  readonly json?: true;
}

/** `harness threads fork`. */
export const forkCommand = async (threadId: string, options: ForkCommandOptions): Promise<void> => {
  const { at: seq, json } = options;
  checked("thread.fork", { threadId, seq });
  const thread = await withThreads(threadId, options, (client, id) => client.forkThread(id, { seq }));
  emit(json, { thread }, () => [
    `Forked ${nameOf(thread)}`,
    `To continue it: harness run --thread ${thread.threadId} "PROMPT"`,
  ]);
};

export interface SearchCommandOptions extends PlaceOptions {
  readonly thread?: string;
  readonly archived?: true;
  readonly limit?: number;
  readonly json?: true;
}

const defaultHits = 20;
/** The greatest limit that `thread.search` takes. */
const maxHits = 100;

/** `harness threads search`: up to `limit` hits, however many requests they take. */
export const searchCommand = async (
  words: readonly string[],
  options: SearchCommandOptions,
): Promise<void> => {
  const { thread: threadId, archived, limit = defaultHits, json } = options;
  const params = checked("thread.search", {
    query: words.join(" "),
    limit,
    threadId,
    archived: archived ? ("include" as const) : undefined,
  });
  const hits: SearchHit[] = [];
  const skipped: NonNullable<SearchPage["skipped"]>[number][] = [];
  const hasMore = await withThreads(threadId, options, async (client, id) => {
    const { query, ...rest } = params;
    const where = threadId === undefined ? rest : { ...rest, threadId: id };
    let cursor: string | undefined;
    do {
      const page = await client.searchThreads(query, { ...where, limit: limit - hits.length, cursor });
      hits.push(...page.hits);
      skipped.push(...(page.skipped ?? []));
      cursor = page.nextCursor;
    } while (cursor !== undefined && hits.length < limit);
    return cursor !== undefined;
  });
  const terminal = createTerminal();
  if (json) return terminal.json({ hits, skipped, hasMore });
  for (const { threadId: id, reason } of skipped)
    createTerminal(io().stderr).say(`harness threads search: left out: ${id}: ${reason}`);
  if (hits.length === 0) return say("No matches");
  const { style, columns } = terminal;
  const ids = [...new Set(hits.map(({ thread }) => thread.threadId))];
  let last: string | undefined;
  for (const hit of hits) {
    const { thread, seq, snippet } = hit;
    if (thread.threadId !== last) {
      const when = style.dim(formatTime(thread.time.updated));
      const id = columns === undefined ? thread.threadId : shortId(thread.threadId, ids);
      terminal.say(`${id}  ${when}  ${style.bold(oneLine(thread.title, 100))}`, "  ");
    }
    last = thread.threadId;
    if (seq === undefined) continue;
    const who = hit.in === "user_message" ? "›" : "·";
    terminal.say(`  ${style.dim(String(seq))} ${who} ${oneLine(snippet, 400)}`, "    ");
    await terminal.ready();
  }
  const more = limit < maxHits ? `--limit ${Math.min(limit * 2, maxHits)}` : "give more words";
  if (hasMore) terminal.say(style.dim(`There may be more: ${more}`));
};
