import type { Thread, ThreadMethodParams, ThreadMethodResult } from "@harnesskit/protocol/threads";
import { invalidParams } from "@harnesskit/wire";

/** The place of a thread in the list: what a cursor names. */
const toCursor = ({ time, threadId }: Thread): string => `${time.updated}/${threadId}`;

const parseCursor = (cursor: string): { updated: number; threadId: string } => {
  const [, updated, threadId] = /^(\d+(?:\.\d+)?)\/(.+)$/.exec(cursor) ?? [];
  if (updated === undefined || threadId === undefined) throw invalidParams("Unknown cursor");
  return { updated: Number(updated), threadId };
};

/** The latest use first; threads of one moment in the order of their ids, so that pages never overlap. */
const compare = (
  a: { updated: number; threadId: string },
  b: { updated: number; threadId: string },
): number => b.updated - a.updated || (a.threadId < b.threadId ? -1 : a.threadId > b.threadId ? 1 : 0);

const keyOf = ({ time, threadId }: Thread) => ({ updated: time.updated, threadId });

/** One page of the threads that fit. Throws -32602 for a cursor that no page gave. */
export const toThreadPage = (
  threads: readonly Thread[],
  params: NonNullable<ThreadMethodParams<"thread.list">>,
): ThreadMethodResult<"thread.list"> => {
  const { limit, cursor, directory, title, updatedAfter } = params;
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  const wanted = title?.toLowerCase();
  const fitting = threads.filter(
    (thread) =>
      (directory === undefined || thread.directory === directory) &&
      (wanted === undefined || thread.title.toLowerCase().includes(wanted)) &&
      (updatedAfter === undefined || thread.time.updated > updatedAfter) &&
      (after === undefined || compare(after, keyOf(thread)) < 0),
  );
  fitting.sort((a, b) => compare(keyOf(a), keyOf(b)));
  if (limit === undefined || fitting.length <= limit) return { threads: fitting };
  const page = fitting.slice(0, limit);
  const last = page.at(-1);
  return last ? { threads: page, nextCursor: toCursor(last) } : { threads: page };
};
