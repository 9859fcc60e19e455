import type { Event } from "@harnesskit/protocol/threads";
import type { ReadEventsOptions } from "@harnesskit/thread-server";
import type { Database } from "./database.ts";
import { safeNumber, textIn } from "./rows.ts";

/** How many events one statement reads at most, and about how many bytes. */
const pageEvents = 500;
const pageBytes = 4 * 1024 * 1024;

/** A part of a log: from one end of it, as many events as fit, at least one. */
const readPage = async (
  database: Database,
  threadId: string,
  {
    after,
    before,
    maxEvents,
    maxBytes,
    types,
  }: {
    after: number;
    before: number;
    maxEvents: number;
    maxBytes: number;
  } & Pick<ReadEventsOptions, "types">,
  direction: "ASC" | "DESC",
): Promise<Event[]> => {
  const rows = await database.query(
    `SELECT body FROM (
       SELECT seq, body, sum(bytes) OVER (ORDER BY seq ${direction}) - bytes AS so_far FROM (
         SELECT seq, bytes, body FROM store.thread_events
         WHERE thread_id = $1 AND seq > $2 AND seq < $3 AND ($6::text[] IS NULL OR body LIKE ANY($6)) ORDER BY seq ${direction} LIMIT $4
       ) page
     ) counted WHERE so_far < $5 ORDER BY seq`,
    ...[threadId, after, before, maxEvents, maxBytes],
    // Finds all that have one of the types; the data of another event can look the same.
    types?.map((type) => `%"type":"${type}"%`) ?? null,
  );
  return rows.map(({ body }) => JSON.parse(textIn(body)) as Event);
};

/** The events of a thread, in order, a page at a time. */
export async function* readStoredEvents(
  database: Database,
  threadId: string,
  { afterSeq = 0, limit = Number.MAX_SAFE_INTEGER, types }: ReadEventsOptions,
): AsyncIterable<Event> {
  let after = afterSeq;
  for (let left = limit; left > 0; ) {
    const page = {
      after,
      before: Number.MAX_SAFE_INTEGER,
      maxEvents: Math.min(left, pageEvents),
      maxBytes: pageBytes,
      types,
    };
    const events = await readPage(database, threadId, page, "ASC");
    const last = events.at(-1);
    if (last === undefined) return;
    const given = types ? events.filter(({ type }) => types.includes(type)) : events;
    yield* given;
    left -= given.length;
    after = safeNumber(last.seq);
  }
}

/** The last events of a thread, in order: as many as fit in about `maxBytes`, at least the last one. */
export const readLastEvents = async (
  database: Database,
  threadId: string,
  maxBytes: number,
): Promise<Event[]> => {
  let all: Event[] = [];
  let left = maxBytes;
  for (let before = Number.MAX_SAFE_INTEGER; left > 0; ) {
    const page = { after: 0, before, maxEvents: pageEvents, maxBytes: Math.min(left, pageBytes) };
    const events = await readPage(database, threadId, page, "DESC");
    const [first] = events;
    if (first === undefined) break;
    all = [...events, ...all];
    before = safeNumber(first.seq);
    left -= events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)), 0);
  }
  return all;
};
