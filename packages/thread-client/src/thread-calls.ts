import type { QueuedTurn, Thread, ThreadMethodName } from "@harnesskit/protocol/threads";
import type { HarnessError } from "@harnesskit/wire";
import type { RequestOptions } from "@harnesskit/wire/rpc";
import type { Fields } from "./connection.ts";
import type { ThreadExtension } from "./extensions.ts";
import { readHistory, readThreads, wholePage } from "./read-pages.ts";
import type {
  CreateThreadParams,
  ForkThreadOptions,
  GetThreadOptions,
  ListThreadsOptions,
  SearchPage,
  SearchThreadsOptions,
  ThreadPage,
} from "./thread-options.ts";
import type { ThreadSession } from "./thread-session.ts";
import type { CallResult, ThreadHistory } from "./validation.ts";

export interface ThreadCallsOptions {
  readonly call: ThreadSession["call"];
  /** Calls a method under a `clientRequestId`, where the server knows such names. */
  readonly callNamed: <M extends ThreadMethodName>(
    method: M,
    fields: Fields,
    clientRequestId: string | undefined,
    options: RequestOptions,
  ) => Promise<CallResult<M>>;
  readonly has: (extension: ThreadExtension) => boolean;
  /** Throws `unsupported` when the server did not announce the extension. */
  readonly need: (extension: ThreadExtension, method: string) => void;
  readonly maxPages: number;
  readonly onError: (error: HarnessError) => void;
}

/** The calls about threads themselves, as {@link ThreadClient} has them. */
export class ThreadCalls {
  readonly #options: ThreadCallsOptions;

  constructor(options: ThreadCallsOptions) {
    this.#options = options;
  }

  async create(params: CreateThreadParams = {}, options: RequestOptions = {}): Promise<Thread> {
    const { title, directory, clientRequestId } = params;
    const fields = { title, directory };
    return (await this.#options.callNamed("thread.create", fields, clientRequestId, options)).thread;
  }

  async list(options: ListThreadsOptions = {}): Promise<ThreadPage> {
    const { call, has, need, maxPages } = this.#options;
    const { limit, cursor, directory, title, updatedAfter, archived, ...request } = options;
    const paging = { limit, cursor, directory, title, updatedAfter };
    if (Object.values(paging).some((value) => value !== undefined)) need("paging", "thread.list");
    if (archived !== undefined) need("archive", "thread.list");
    const fields = { ...paging, archived, limit: limit ?? (has("paging") ? wholePage : undefined) };
    const readPage = (next: string | undefined): Promise<ThreadPage> =>
      call("thread.list", { ...fields, cursor: next }, request);
    if (limit !== undefined) return readPage(cursor);
    return readThreads(readPage, { cursor, maxPages });
  }

  async *all(options: Omit<ListThreadsOptions, "cursor"> = {}): AsyncGenerator<Thread, void> {
    const paged = this.#options.has("paging") ? { ...options, limit: options.limit ?? 100 } : options;
    let cursor: string | undefined;
    do {
      const page = await this.list({ ...paged, cursor });
      yield* page.threads;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  async get(threadId: string, options: GetThreadOptions = {}): Promise<ThreadHistory> {
    const { call, has, maxPages, onError: onTooLarge } = this.#options;
    const { afterSeq, limit, ...request } = options;
    const readPage = (after: number | undefined, most: number | undefined): Promise<ThreadHistory> =>
      call("thread.get", { threadId, afterSeq: after, limit: most }, request);
    if (!has("paging")) return readPage(afterSeq, limit);
    return readHistory(readPage, { afterSeq, limit, maxPages, onTooLarge });
  }

  async delete(threadId: string, options: RequestOptions = {}): Promise<void> {
    this.#options.need("delete", "thread.delete");
    await this.#options.call("thread.delete", { threadId }, options);
  }

  async rename(threadId: string, title: string, options: RequestOptions = {}): Promise<Thread> {
    return this.#change("rename", "thread.rename", { threadId, title }, options);
  }

  async archive(threadId: string, options: RequestOptions = {}): Promise<Thread> {
    return this.#change("archive", "thread.archive", { threadId }, options);
  }

  async unarchive(threadId: string, options: RequestOptions = {}): Promise<Thread> {
    return this.#change("archive", "thread.unarchive", { threadId }, options);
  }

  async fork(threadId: string, options: ForkThreadOptions = {}): Promise<Thread> {
    const { seq, title, clientRequestId, ...request } = options;
    this.#options.need("fork", "thread.fork");
    const fields = { threadId, seq, title };
    return (await this.#options.callNamed("thread.fork", fields, clientRequestId, request)).thread;
  }

  async search(query: string, options: SearchThreadsOptions = {}): Promise<SearchPage> {
    const { limit, cursor, threadId, directory, archived, ...request } = options;
    this.#options.need("search", "thread.search");
    const fields = { query, limit, cursor, threadId, directory, archived };
    return this.#options.call("thread.search", fields, { ...request, repeatable: true });
  }

  async queue(threadId: string, options: RequestOptions = {}): Promise<readonly QueuedTurn[]> {
    this.#options.need("queue", "queue.list");
    return (await this.#options.call("queue.list", { threadId }, { ...options, repeatable: true })).queued;
  }

  /** Said again after a loss, each of these has the same effect. */
  async #change(
    extension: ThreadExtension,
    method: "thread.rename" | "thread.archive" | "thread.unarchive",
    fields: Fields,
    options: RequestOptions,
  ): Promise<Thread> {
    this.#options.need(extension, method);
    return (await this.#options.call(method, fields, { ...options, repeatable: true })).thread;
  }
}
