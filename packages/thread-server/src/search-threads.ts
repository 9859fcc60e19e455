import type {
  Event,
  EventName,
  SearchHit,
  Thread,
  ThreadMethodParams,
  ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import { HarnessError, invalidParams } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { promptText } from "./approval-answer.ts";
import { isStoreFailure, ThreadStoreError, threadError } from "./errors.ts";
import type { ServerSettings } from "./server-settings.ts";
import { isListed, newestFirst, type Place, parseCursor, toCursor } from "./thread-list.ts";
import type { ThreadStore } from "./thread-store.ts";

const maxWords = 16;
const defaultLimit = 20;
/** Characters of a snippet before and behind the start of the first word. */
const snippetBefore = 60;
const snippetBehind = 140;

const messageEvents: readonly EventName[] = ["item.completed"];

/** Where a search goes on: in a thread, behind one of its events. -1 stands before its title. */
interface SearchPlace extends Place {
  readonly afterSeq: number;
}

const parseSearchCursor = (cursor: string): SearchPlace => {
  const [, afterSeq, place] = /^(-1|\d{1,16})\/(.+)$/.exec(cursor) ?? [];
  return { ...parseCursor(place ?? ""), afterSeq: Number(afterSeq) };
};

/** The words of a query, in lower case, each once. Throws -32602 for none and for too many. */
const queryWords = (query: string): string[] => {
  const words = [...new Set(fold(query.normalize("NFC")).split(/\s+/u).filter(Boolean))];
  if (words.length === 0) throw invalidParams("The query has no word", { field: "query" });
  if (words.length > maxWords)
    throw invalidParams(`The query has ${words.length} words: give at most ${maxWords}`, { field: "query" });
  return words;
};

const fold = (text: string): string => text.toLowerCase();

/** Where the first of the words begins in a string that contains all of them; -1 where one is missing. */
const findAll = (text: string, words: readonly string[]): number => {
  const folded = fold(text);
  let first = folded.length;
  for (const word of words) {
    const index = folded.indexOf(word);
    if (index === -1) return -1;
    first = Math.min(first, index);
  }
  return Math.min(first, text.length);
};

const snippetOf = (text: string, at: number): string => {
  const from = Math.max(0, at - snippetBefore);
  const to = Math.min(text.length, at + snippetBehind);
  // Half of a pair of surrogates, where the cut is in its middle, is left out.
  const part = text
    .slice(from, to)
    .replace(/\p{Cs}/gu, "")
    .replace(/[\s\p{Cc}]+/gu, " ");
  return `${from > 0 ? "…" : ""}${part.trim()}${to < text.length ? "…" : ""}`;
};

/** Where a message has all the words; undefined for any other event, and for reasoning. */
const searchedMessage = (
  { type, seq, time, data }: Event,
  words: readonly string[],
): Omit<SearchHit, "thread"> | undefined => {
  if (type !== "item.completed") return undefined;
  const { item, turnId, itemId } = data;
  let said = "";
  if (item.type === "user_message") said = promptText(item.data?.content ?? []);
  else if (item.type === "assistant_message" && !item.data?.reasoning) said = item.data?.text ?? "";
  else return undefined;
  const text = said.normalize("NFC");
  const at = findAll(text, words);
  if (at === -1) return undefined;
  return { in: item.type, snippet: snippetOf(text, at), seq, time, turnId, itemId };
};

/** False for a failure of the whole store, in which the next log would not be read either. */
const isOfOneLog = (error: unknown): boolean =>
  ThreadStoreError.isInstance(error)
    ? error.code === "store_failed" || error.code === "log_damaged"
    : !isStoreFailure(error) || ("reason" in error && error.reason === "corrupt");

/**
 * Finds titles and messages that contain all words of a query, in any case: the thread used last first. Reads a bounded part of the
 * logs, and says with `nextCursor` where the rest begins. A log that cannot be read is skipped and named, unless it is the only one
 * that was asked for. Throws -32602 for a query without words or with too many and for a cursor that no search gave, -32001 for a `threadId` that does not exist.
 */
export const searchThreads = async (
  params: ThreadMethodParams<"thread.search">,
  { store, clock, limits }: ServerSettings,
): Promise<ThreadMethodResult<"thread.search">> => {
  const { limit = defaultLimit } = params;
  const words = queryWords(params.query);
  const after = params.cursor === undefined ? undefined : parseSearchCursor(params.cursor);
  const threads = await threadsOf(store, params, after);
  const untilMs = clock.elapsedMs() + limits.searchTimeoutMs;
  const hits: SearchHit[] = [];
  const skipped: { readonly threadId: string; readonly reason: string }[] = [];
  const page = (nextCursor?: string) =>
    defined({ hits, skipped: skipped.length === 0 ? undefined : skipped, nextCursor });
  const isSpent = () => clock.elapsedMs() > untilMs;
  for (const [index, { thread, place }] of threads.entries()) {
    const cursorAt = (seq: number) => `${seq}/${toCursor(place)}`;
    let afterSeq = after?.threadId === thread.threadId ? after.afterSeq : -1;
    // Each request goes at least one thread, or one message, further.
    if (index > 0 && isSpent()) return page(cursorAt(afterSeq));
    if (afterSeq === -1) {
      const title = thread.title.normalize("NFC");
      const at = findAll(title, words);
      if (at !== -1) hits.push({ thread, in: "title", snippet: snippetOf(title, at) });
      afterSeq = 0;
      if (hits.length >= limit) return page(cursorAt(afterSeq));
    }
    const wanted = { afterSeq, types: messageEvents };
    try {
      for await (const event of store.events(thread.threadId, wanted)) {
        afterSeq = event.seq;
        const hit = searchedMessage(event, words);
        if (hit) hits.push({ thread, ...hit });
        if (hits.length >= limit || isSpent()) return page(cursorAt(afterSeq));
      }
    } catch (error) {
      if (params.threadId !== undefined || !isOfOneLog(error)) throw error;
      const reason = HarnessError.isInstance(error) ? error.message : "Its log could not be read";
      skipped.push({ threadId: thread.threadId, reason });
    }
  }
  return page();
};

/** The threads that are searched, each with its place; that of the cursor keeps its own, also where it was used since. */
const threadsOf = async (
  store: ThreadStore,
  { threadId, directory, archived }: ThreadMethodParams<"thread.search">,
  after: SearchPlace | undefined,
): Promise<readonly { readonly thread: Thread; readonly place: Place }[]> => {
  if (threadId !== undefined) {
    const thread = await store.get(threadId);
    if (!thread) throw threadError("thread_not_found");
    return [{ thread, place: thread }];
  }
  return (await store.list())
    .map((thread) => ({ thread, place: after?.threadId === thread.threadId ? after : thread }))
    .filter(
      ({ thread, place }) =>
        isListed(thread, archived) &&
        (directory === undefined || thread.directory === directory) &&
        (after === undefined || newestFirst(after, place) <= 0),
    )
    .sort((one, other) => newestFirst(one.place, other.place));
};
