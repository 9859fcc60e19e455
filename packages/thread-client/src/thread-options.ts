import type { SearchHit, Thread } from "@harnesskit/protocol/threads";
import type { RequestOptions } from "@harnesskit/wire/rpc";

export interface CreateThreadParams {
  /** @default the server's choice */
  readonly title?: string;
  /** Must lie inside the server's working directory. @default that directory */
  readonly directory?: string;
  /** The name of this request, for a caller who repeats it: the same one makes no second thread. @default a new one */
  readonly clientRequestId?: string;
}

/** Which threads to list; all but an empty one need the extension `paging`. */
export interface ListThreadsOptions extends RequestOptions {
  /** At most so many, fewer where they do not fit in a message. @default all, in up to `maxPages` pages */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Only threads of this directory. */
  readonly directory?: string | undefined;
  /** Only threads whose title contains this string, in any case. */
  readonly title?: string | undefined;
  /** Only threads that were used after this time, in milliseconds since the epoch. */
  readonly updatedAfter?: number | undefined;
  /** Archived threads too, or only these; needs the extension `archive`. @default none of them */
  readonly archived?: "include" | "only" | undefined;
}

export interface ForkThreadOptions extends RequestOptions {
  /** The last event that the fork begins with. @default the last one that there is */
  readonly seq?: number | undefined;
  /** @default the title of the source */
  readonly title?: string | undefined;
  /** The name of this request, for a caller who repeats it: the same one makes no second thread. @default a new one */
  readonly clientRequestId?: string | undefined;
}

export interface SearchThreadsOptions extends RequestOptions {
  /** At most so many hits, up to 100. @default 20 */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the answer before. */
  readonly cursor?: string | undefined;
  /** Only in this thread. */
  readonly threadId?: string | undefined;
  /** Only in threads of this directory. */
  readonly directory?: string | undefined;
  /** Archived threads too, or only these. @default none of them */
  readonly archived?: "include" | "only" | undefined;
}

/** Where threads say what was searched for, the thread used last first. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  /** Threads whose log the server cannot read: they are not searched, or not to their end. */
  readonly skipped?: readonly { readonly threadId: string; readonly reason: string }[] | undefined;
  /** The `cursor` that goes on; undefined once all was searched. There may be no hit before. */
  readonly nextCursor?: string | undefined;
}

/** Threads, the latest used first. */
export interface ThreadPage {
  readonly threads: readonly Thread[];
  /** The `cursor` of the next page; undefined on the last one. */
  readonly nextCursor?: string | undefined;
}

export interface GetThreadOptions extends RequestOptions {
  /** Only events with a greater number. @default 0 */
  readonly afterSeq?: number | undefined;
  /** At most so many events. @default all, as far as `maxPages` pages hold them */
  readonly limit?: number | undefined;
}
