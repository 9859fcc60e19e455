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
import { isStoreFailure, ThreadStoreError, threadNotFound } from "./errors.ts";
import type { ServerSettings } from "./server-settings.ts";
import { isListed, newestFirst, type Place, placeOf } from "./thread-list.ts";
import type { ThreadStore } from "./thread-store.ts";

const maxWords = 16;
const defaultLimit = 20;
/** Characters of a snippet before and behind the start of the first word. */
const snippetBefore = 60;
const snippetBehind = 140;

const messageEvents: readonly EventName[] = ["item.completed"];
/** After how many events the time is looked at where none is a message. */
const checkpointEvery = 1000;

/** Where a search goes on: in a thread, behind one of its events. -1 stands before its title. */
interface SearchPlace extends Place {
  /** The latest use of any thread when the search began. */
  readonly since: number;
  readonly afterSeq: number;
}

const parseCursor = (cursor: string): SearchPlace => {
  const [, since, updated, afterSeq, threadId] =
    /^(\d+(?:\.\d+)?(?:e\+\d+)?)\/(\d+(?:\.\d+)?(?:e\+\d+)?)\/(-1|\d{1,16})\/(.+)$/.exec(cursor) ?? [];
  if (since === undefined || threadId === undefined) throw invalidParams("Unknown cursor");
  return { since: Number(since), updated: Number(updated), afterSeq: Number(afterSeq), threadId };
};

/** The thread used last first; those used since the search began come behind, as they were used, so that no page misses one. */
const searchOrder =
  (since: number) =>
  (one: Place, other: Place): number => {
    const isLater = one.updated > since;
    if (isLater !== other.updated > since) return isLater ? 1 : -1;
    return isLater ? newestFirst(other, one) : newestFirst(one, other);
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
  return unfolded(text, first);
};

/** The place in a string of what stands at `at` in its lower case, which can be longer. */
const unfolded = (text: string, at: number): number => {
  if (fold(text).length === text.length) return at;
  let index = 0;
  let length = 0;
  for (const char of text) {
    if (length >= at) break;
    length += fold(char).length;
    index += char.length;
  }
  return index;
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

/** What a message says; undefined for any other event, and for reasoning. */
const searchedMessage = (
  event: Event,
): { in: "user_message" | "assistant_message"; text: string } | undefined => {
  if (event.type !== "item.completed") return undefined;
  const { item } = event.data;
  if (item.type === "user_message") {
    const parts = item.data?.content ?? [];
    return {
      in: item.type,
      text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    };
  }
  if (item.type !== "assistant_message" || !item.data || item.data.reasoning) return undefined;
  return { in: item.type, text: item.data.text };
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
  const { limit = defaultLimit, directory, archived } = params;
  const words = queryWords(params.query);
  const after = params.cursor === undefined ? undefined : parseCursor(params.cursor);
  const { threads, since } = await threadsOf(store, params.threadId, { directory, archived, after });
  const untilMs = clock.elapsedMs() + limits.searchTimeoutMs;
  const hits: SearchHit[] = [];
  const skipped: { readonly threadId: string; readonly reason: string }[] = [];
  const page = (nextCursor?: string) =>
    defined({ hits, skipped: skipped.length === 0 ? undefined : skipped, nextCursor });
  const isSpent = () => clock.elapsedMs() > untilMs;
  for (const [index, { thread, place }] of threads.entries()) {
    const cursorAt = (seq: number) => `${since}/${place.updated}/${seq}/${place.threadId}`;
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
    const wanted = { afterSeq, types: messageEvents, checkpointEvery };
    try {
      for await (const event of store.events(thread.threadId, wanted)) {
        afterSeq = event.seq;
        const message = searchedMessage(event);
        if (message && event.type === "item.completed") {
          const text = message.text.normalize("NFC");
          const at = findAll(text, words);
          const { turnId, itemId } = event.data;
          const { seq, time } = event;
          if (at !== -1)
            hits.push({ thread, in: message.in, snippet: snippetOf(text, at), seq, time, turnId, itemId });
        }
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

const threadsOf = async (
  store: ThreadStore,
  threadId: string | undefined,
  {
    directory,
    archived,
    after,
  }: Pick<ThreadMethodParams<"thread.search">, "directory" | "archived"> & {
    after: SearchPlace | undefined;
  },
): Promise<{ readonly threads: readonly { thread: Thread; place: Place }[]; readonly since: number }> => {
  if (threadId !== undefined) {
    const thread = await store.get(threadId);
    if (!thread) throw threadNotFound();
    return { threads: [{ thread, place: placeOf(thread) }], since: after?.since ?? thread.time.updated };
  }
  const all = await store.list();
  const since = after?.since ?? all.reduce((latest, { time }) => Math.max(latest, time.updated), 0);
  const order = searchOrder(since);
  // The thread of the cursor keeps its place, also where it was used since.
  const places = all.map((thread) => ({
    thread,
    place: after?.threadId === thread.threadId ? after : placeOf(thread),
  }));
  const threads = places.filter(
    ({ thread, place }) =>
      isListed(thread, archived) &&
      (directory === undefined || thread.directory === directory) &&
      (after === undefined || order(after, place) <= 0),
  );
  return { threads: threads.sort((one, other) => order(one.place, other.place)), since };
};
