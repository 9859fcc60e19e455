import { toTextKey } from "@harnesskit/wire/json";
import type { Database } from "./database.ts";
import { keyIn } from "./rows.ts";
import type { WakePoll } from "./wakes.ts";

/** Of the threads that are watched, those whose last number is not what it was: one statement for all of them. */
export const threadPoll = (database: Database): WakePoll => {
  let seen = new Map<string, unknown>();
  return async (keys) => {
    const rows = await database.query(
      "SELECT thread_id, last_seq FROM store.threads WHERE thread_id = ANY($1)",
      keys.map(toTextKey),
    );
    const before = seen;
    seen = new Map(rows.map(({ thread_id, last_seq }) => [keyIn(thread_id), last_seq]));
    return [...seen].flatMap(([key, lastSeq]) => (before.get(key) === lastSeq ? [] : [key]));
  };
};
