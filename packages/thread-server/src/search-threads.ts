import type {
  Event,
  EventName,
  SearchHit,
  Thread,
  ThreadMethodParams,
  ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import { type Clock, invalidParams } from "@harnesskit/wire";
import { threadNotFound } from "./errors.ts";
import type { ThreadServerLimits } from "./server-settings.ts";
import { isListed, newestFirst, type Place, placeOf } from "./thread-list.ts";
import type { ThreadStore } from "./thread-store.ts";

const maxWords = 16;
const defaultLimit = 20;
/** Characters of a snippet before and behind the start of the first word. */
const snippetBefore = 60;
const snippetBehind = 140;

const messageEvents: readonly EventName[] = ["item.completed"];

export interface SearchSettings {
  readonly clock: Pick<Clock, "now">;
  readonly limits: Pick<ThreadServerLimits, "maxSearchThreads" | "maxSearchLength" | "searchTimeoutMs">;
}

/** Where a search goes on: in a thread, behind one of its events. -1 stands before its title. */
interface SearchPlace extends Place {
  readonly afterSeq: number;
}

const parseCursor = (cursor: string): SearchPlace => {
  const [, updated, afterSeq, threadId] =
    /^(\d{1,16}(?:\.\d{1,16})?)\/(-1|\d{1,15})\/(.+)$/.exec(cursor) ?? [];
  if (updated === undefined || threadId === undefined) throw invalidParams("Unknown cursor");
  return { updated: Number(updated), afterSeq: Number(afterSeq), threadId };
};

const toCursor = ({ time, threadId }: Thread, afterSeq: number): string =>
  `${time.updated}/${afterSeq}/${threadId}`;

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
  return first;
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

/**
 * Finds titles and messages that contain all words of a query, in any case: the thread used last first. Reads a bounded part of the
 * logs, and says with `nextCursor` where the rest begins. Throws -32602 for a query without words or with too many and for a
 * cursor that no search gave, -32001 for a `threadId` that does not exist.
 */
export const searchThreads = async (
  store: ThreadStore,
  params: ThreadMethodParams<"thread.search">,
  { clock, limits }: SearchSettings,
): Promise<ThreadMethodResult<"thread.search">> => {
  const { limit = defaultLimit, directory, archived } = params;
  const words = queryWords(params.query);
  const after = params.cursor === undefined ? undefined : parseCursor(params.cursor);
  const threads = await threadsOf(store, params.threadId, { directory, archived, after });
  const untilMs = clock.now() + limits.searchTimeoutMs;
  const hits: SearchHit[] = [];
  let searched = 0;
  let length = 0;
  const isSpent = () =>
    searched > limits.maxSearchThreads || length > limits.maxSearchLength || clock.now() > untilMs;
  for (const thread of threads) {
    let afterSeq = after?.threadId === thread.threadId ? after.afterSeq : -1;
    // Each request goes at least one thread, or one message, further.
    if (++searched > 1 && isSpent()) return { hits, nextCursor: toCursor(thread, afterSeq) };
    if (afterSeq === -1) {
      const at = findAll(thread.title, words);
      if (at !== -1) hits.push({ thread, in: "title", snippet: snippetOf(thread.title, at) });
      afterSeq = 0;
      if (hits.length >= limit) return { hits, nextCursor: toCursor(thread, afterSeq) };
    }
    for await (const event of store.events(thread.threadId, { afterSeq, types: messageEvents })) {
      afterSeq = event.seq;
      const message = searchedMessage(event);
      if (message && event.type === "item.completed") {
        const text = message.text.normalize("NFC");
        length += text.length;
        const at = findAll(text, words);
        const { turnId, itemId } = event.data;
        const { seq, time } = event;
        if (at !== -1)
          hits.push({ thread, in: message.in, snippet: snippetOf(text, at), seq, time, turnId, itemId });
      }
      if (hits.length >= limit || isSpent()) return { hits, nextCursor: toCursor(thread, afterSeq) };
    }
  }
  return { hits };
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
): Promise<Thread[]> => {
  if (threadId !== undefined) {
    const thread = await store.get(threadId);
    if (!thread) throw threadNotFound();
    return [thread];
  }
  const threads = (await store.list()).filter(
    (thread) =>
      isListed(thread, archived) &&
      (directory === undefined || thread.directory === directory) &&
      // The thread of this place may have been used since; another one that was stands before it, and was looked into as it was.
      (after === undefined || thread.threadId === after.threadId || newestFirst(after, placeOf(thread)) < 0),
  );
  return threads.sort((one, other) => newestFirst(placeOf(one), placeOf(other)));
};
