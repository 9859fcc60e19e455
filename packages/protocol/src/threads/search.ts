import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";
import { ThreadSchema, TimestampSchema } from "./thread.ts";

/** Whether archived threads count too, or alone. */
export const ArchivedSchema = z.enum(["include", "only"]);

/** A place where a thread says what was searched for. */
export const SearchHitSchema = tolerant(() => ({
  thread: ThreadSchema,
  /** The title, or a message of the user or the agent. */
  in: z.enum(["title", "user_message", "assistant_message"]),
  /** The part of it around the first word that was found, on one line. */
  snippet: z.string(),
  /** Of a message: its event in the log. */
  seq: z.int().positive().optional(),
  time: TimestampSchema.optional(),
  turnId: z.string().optional(),
  itemId: z.string().optional(),
}));
export type SearchHit = z.infer<typeof SearchHitSchema>;

/** `thread.search` (extension `search`): titles and messages that contain each of some words, in any case. */
export const threadSearch = {
  params: tolerant(() => ({
    /** 1 to 16 words, separated by white space. Each must occur; what follows it in a longer word does not matter. */
    query: z.string().min(1).max(1000),
    /** At most so many hits. @default 20 */
    limit: z.int().min(1).max(100).optional(),
    /** The `nextCursor` of the answer before. */
    cursor: z.string().max(300).optional(),
    /** Only in this thread. */
    threadId: z.string().optional(),
    /** Only in threads of this directory. */
    directory: z.string().optional(),
    /** Archived threads too, or only these. @default none of them */
    archived: ArchivedSchema.optional(),
  })),
  result: tolerant(() => ({
    /** The thread used last first; in a thread its title, then its messages in their order. */
    hits: z.array(SearchHitSchema),
    /** Threads whose log cannot be read: they are not searched, or not to their end. */
    skipped: z.array(tolerant(() => ({ threadId: z.string(), reason: z.string() }))).optional(),
    /** More may follow, with this `cursor`: one request reads a bounded part of the logs, which may have no hit. */
    nextCursor: z.string().optional(),
  })),
};
