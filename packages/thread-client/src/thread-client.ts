import type {
  ApprovalDecision,
  EventBody,
  Grant,
  InputPart,
  QueuedTurn,
  Thread,
} from "@harnesskit/protocol/threads";
import { callSafely, type HarnessError } from "@harnesskit/wire";
import type { RequestOptions, RpcConnection } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { ApprovalCalls } from "./approval-calls.ts";
import type { ThreadHistory } from "./call-thread-server.ts";
import type {
  CancelTurnOptions,
  CompactThreadOptions,
  EventStream,
  ListGrantsOptions,
  RespondApprovalOptions,
  StartTurnOptions,
  SubmitTurnOptions,
  SubscribeOptions,
  ThreadClient,
  ThreadClientOptions,
} from "./client-options.ts";
import { EventQueue } from "./event-queue.ts";
import { Follows } from "./follows.ts";
import { checkThreadClientOptions } from "./option-names.ts";
import { readHistory, wholePage } from "./read-pages.ts";
import type {
  CreateThreadParams,
  ForkThreadOptions,
  GetThreadOptions,
  ListThreadsOptions,
  SearchPage,
  SearchThreadsOptions,
  ThreadPage,
} from "./thread-options.ts";
import { ThreadSession } from "./thread-session.ts";
import { openSubscription, type ThreadSubscription } from "./thread-subscription.ts";
import type { LiveTurn, TurnHandle } from "./turn-handle.ts";
import { Turns } from "./turns.ts";

/** A string is one text part. */
const toInputParts = (input: StartTurnOptions["input"]): readonly InputPart[] =>
  typeof input === "string" ? [{ type: "text", text: input }] : input;

class Client extends ThreadSession implements ThreadClient {
  readonly #follows = new Follows((threadId, error) => this.#turns.lose(error, threadId));
  readonly #turns = new Turns(this, this.#follows, (event, turn) => this.#observe(event, turn));
  readonly #approvals = new ApprovalCalls(this);
  /** The readers of all events. */
  readonly #streams = new Set<EventQueue>();
  /** Set when no more events come. */
  #end: { readonly error: HarnessError | undefined } | undefined;

  async createThread(params: CreateThreadParams = {}, options?: RequestOptions): Promise<Thread> {
    return (await this.call("thread.create", { ...params }, options)).thread;
  }

  async listThreads(options: ListThreadsOptions = {}): Promise<ThreadPage> {
    const { limit, cursor, directory, title, updatedAfter, archived, ...request } = options;
    const paging = { limit, cursor, directory, title, updatedAfter };
    if (Object.values(paging).some((value) => value !== undefined)) this.require("paging", "thread.list");
    if (archived !== undefined) this.require("archive", "thread.list");
    const fields = { ...paging, archived, limit: limit ?? (this.has("paging") ? wholePage : undefined) };
    const readPage = (next: string | undefined): Promise<ThreadPage> =>
      this.call("thread.list", { ...fields, cursor: next }, request);
    let page = await readPage(cursor);
    const threads = [...page.threads];
    if (limit === undefined) {
      for (let pages = 1; page.nextCursor !== undefined && pages < this.limits.maxPages; pages++) {
        page = await readPage(page.nextCursor);
        for (const thread of page.threads) threads.push(thread);
      }
    }
    return { ...page, threads };
  }

  async *allThreads(options: Omit<ListThreadsOptions, "cursor"> = {}): AsyncGenerator<Thread, void> {
    const paged = this.has("paging") ? { ...options, limit: options.limit ?? 100 } : options;
    let cursor: string | undefined;
    do {
      const page = await this.listThreads({ ...paged, cursor });
      yield* page.threads;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  async getThread(threadId: string, options: GetThreadOptions = {}): Promise<ThreadHistory> {
    const { afterSeq, limit, ...request } = options;
    const readPage = (after: number | undefined, most: number | undefined): Promise<ThreadHistory> =>
      this.call("thread.get", { threadId, afterSeq: after, limit: most }, request);
    if (!this.has("paging")) return readPage(afterSeq, limit);
    const { maxPages } = this.limits;
    return readHistory(readPage, { afterSeq, limit, maxPages, onTooLarge: (error) => this.report(error) });
  }

  async deleteThread(threadId: string, options?: RequestOptions): Promise<void> {
    await this.call("thread.delete", { threadId }, options);
  }

  async renameThread(threadId: string, title: string, options?: RequestOptions): Promise<Thread> {
    return (await this.call("thread.rename", { threadId, title }, options)).thread;
  }

  async archiveThread(threadId: string, options?: RequestOptions): Promise<Thread> {
    return (await this.call("thread.archive", { threadId }, options)).thread;
  }

  async unarchiveThread(threadId: string, options?: RequestOptions): Promise<Thread> {
    return (await this.call("thread.unarchive", { threadId }, options)).thread;
  }

  async forkThread(threadId: string, options: ForkThreadOptions = {}): Promise<Thread> {
    const { seq, title, clientRequestId, ...request } = options;
    return (await this.call("thread.fork", { threadId, seq, title, clientRequestId }, request)).thread;
  }

  searchThreads(query: string, options: SearchThreadsOptions = {}): Promise<SearchPage> {
    const { limit, cursor, threadId, directory, archived, ...request } = options;
    return this.call("thread.search", { query, limit, cursor, threadId, directory, archived }, request);
  }

  async listQueue(threadId: string, options?: RequestOptions): Promise<readonly QueuedTurn[]> {
    return (await this.call("queue.list", { threadId }, options)).queued;
  }

  async subscribe(threadId: string, options: SubscribeOptions = {}): Promise<ThreadSubscription> {
    this.require("subscribe", "thread.subscribe");
    return openSubscription(this, this.#follows, threadId, options);
  }

  async startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { threadId, input, model, agent, whenBusy } = options;
    if (whenBusy !== undefined) this.require("queue", "turn.start");
    const fields = { threadId, input: toInputParts(input), model, agent, whenBusy };
    return this.#startTurn("turn.start", fields, options);
  }

  async compactThread(options: CompactThreadOptions): Promise<TurnHandle> {
    const { threadId, model } = options;
    this.require("compact", "thread.compact");
    return this.#startTurn("thread.compact", { threadId, model }, options);
  }

  async submitTurn(options: SubmitTurnOptions): Promise<string> {
    const { threadId, input, model, agent, whenBusy, clientRequestId, ...request } = options;
    if (whenBusy !== undefined) this.require("queue", "turn.start");
    const fields = { threadId, input: toInputParts(input), model, agent, whenBusy, clientRequestId };
    return (await this.call("turn.start", fields, request)).turnId;
  }

  async cancelTurn(threadId: string, { turnId, ...options }: CancelTurnOptions = {}): Promise<void> {
    if (turnId !== undefined) this.require("queue", "turn.cancel");
    await this.call("turn.cancel", { threadId, turnId }, options);
  }

  async respondApproval(
    requestId: string,
    decision: ApprovalDecision,
    options: RespondApprovalOptions = {},
  ): Promise<void> {
    const { scope, match, digest, clientRequestId } = options;
    if ((scope ?? match ?? digest) !== undefined) this.require("grants", "approval.respond");
    if (clientRequestId !== undefined) this.require("clientRequestId", "approval.respond");
    this.#approvals.settle(requestId);
    await this.#approvals.respond(requestId, decision, options);
  }

  async listGrants(options: ListGrantsOptions = {}): Promise<readonly Grant[]> {
    const { threadId, directory, ...request } = options;
    return (await this.call("grant.list", { threadId, directory }, request)).grants;
  }

  async revokeGrant(grantId: string, options?: RequestOptions): Promise<void> {
    await this.call("grant.revoke", { grantId }, options);
  }

  events(): EventStream {
    const queue: EventQueue = new EventQueue(this, () => {
      this.#streams.delete(queue);
      queue.end();
    });
    if (this.#end) queue.end(this.#end.error);
    else this.#streams.add(queue);
    return queue;
  }

  protected receive(event: EventBody): void {
    if (!this.#follows.accept(event)) return;
    for (const queue of this.#streams) queue.push(event);
    this.#turns.route(event);
  }

  protected deleted(threadId: string): void {
    this.#follows.deleted(threadId);
    callSafely(() => this.options.onThreadDeleted?.(threadId));
  }

  protected resume(connection: RpcConnection): Promise<void> {
    return this.#follows.resume(connection);
  }

  /** Without subscriptions the client cannot know what a turn does meanwhile. */
  protected interrupted(error: HarnessError): void {
    this.#follows.detach();
    if (this.has("subscribe")) return;
    this.#turns.lose(error);
    this.#approvals.abandon();
  }

  /** What waits learns of the loss; a stream of events just ends when the close was in good order. */
  protected lost(error: HarnessError, inGoodOrder: boolean): void {
    this.#follows.close(error);
    this.#turns.lose(error);
    this.#approvals.close();
    this.#end = { error: inGoodOrder ? undefined : error };
    for (const queue of this.#streams) queue.end(this.#end.error);
    this.#streams.clear();
  }

  #startTurn(...start: Parameters<Turns["start"]>): Promise<TurnHandle> {
    const [name, , { signal }] = start;
    return within(() => this.#turns.start(...start), { name, signal });
  }

  #observe(event: EventBody, turn: LiveTurn | undefined): void {
    const own = turn?.approver;
    const observe = () =>
      this.#approvals.observe(event, own === "none" ? undefined : (own ?? this.options.onApproval));
    if (turn) turn.within(observe);
    else observe();
  }
}

/**
 * Makes a client of the thread protocol; {@link ThreadClient.connect} opens the connection. Throws `invalid_argument` for invalid
 * limits or an invalid `reconnect`.
 */
export const createThreadClient = (options: ThreadClientOptions): ThreadClient =>
  new Client(checkThreadClientOptions(options));
