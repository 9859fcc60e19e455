import type { Thread, ThreadMethodParams, ThreadMethodResult } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";
import { utf8Length } from "@harnesskit/wire/json";
import { resultTooLarge } from "./errors.ts";

/** The place of a thread in the list: what a cursor names. */
export interface Place {
  readonly threadId: string;
  readonly time: { readonly updated: number };
}

export const toCursor = ({ time, threadId }: Place): string => `${time.updated}/${threadId}`;

/** Throws -32602 for what no page gave. */
export const parseCursor = (cursor: string): Place => {
  const [, updated, threadId] = /^(\d+(?:\.\d+)?(?:e\+\d+)?)\/(.+)$/.exec(cursor) ?? [];
  if (updated === undefined || threadId === undefined) throw invalidParams("Unknown cursor");
  return { threadId, time: { updated: Number(updated) } };
};

/** The latest use first; threads of one moment in the order of their ids, so that pages never overlap. */
export const newestFirst = (a: Place, b: Place): number =>
  b.time.updated - a.time.updated || (a.threadId < b.threadId ? -1 : a.threadId > b.threadId ? 1 : 0);

/** Whether a thread is there for a client that asked for archived ones so. */
export const isListed = ({ time }: Thread, archived: "include" | "only" | undefined): boolean =>
  archived === "include" || (time.archived !== undefined) === (archived === "only");

/**
 * The threads that were asked for, of all in the order of `newestFirst`: with a `limit` a page of them, up to so many, and no more than `maxBytes` where that is not a
 * single one. Throws -32602 for a cursor that no page gave, and where all of them are more than `maxBytes`.
 */
export const toThreadPage = (
  threads: readonly Thread[],
  params: NonNullable<ThreadMethodParams<"thread.list">>,
  maxBytes: number,
): ThreadMethodResult<"thread.list"> => {
  const { limit, cursor, directory, title, updatedAfter, archived } = params;
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  const wanted = title?.toLowerCase();
  const isWanted = (thread: Thread): boolean =>
    (directory === undefined || thread.directory === directory) &&
    isListed(thread, archived) &&
    (wanted === undefined || thread.title.toLowerCase().includes(wanted)) &&
    (updatedAfter === undefined || thread.time.updated > updatedAfter) &&
    (after === undefined || newestFirst(after, thread) < 0);
  const page: Thread[] = [];
  let bytes = 0;
  for (const thread of threads) {
    if (!isWanted(thread)) continue;
    bytes += utf8Length(JSON.stringify(thread)) + 1;
    const last = page.at(-1);
    if (last && (page.length === limit || bytes > maxBytes)) {
      // Only a client that asks for pages knows that more may follow.
      if (limit === undefined) throw resultTooLarge("thread.list", maxBytes);
      return { threads: page, nextCursor: toCursor(last) };
    }
    page.push(thread);
  }
  return { threads: page };
};
