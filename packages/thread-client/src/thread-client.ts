import type { ApprovalDecision, EventBody, Grant, QueuedTurn, Thread } from "@harnesskit/protocol/threads";
import { type CloseReason, callSafely, type HarnessError } from "@harnesskit/wire";
import type { ConnectOptions, RequestOptions, SessionState } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { ApprovalCalls } from "./approval-calls.ts";
import type { Fields, Initialized } from "./call-thread-server.ts";
import type {
  CancelTurnOptions,
  EventStream,
  ListGrantsOptions,
  RespondApprovalOptions,
  StartTurnOptions,
  SubmitTurnOptions,
  SubscribeOptions,
  ThreadClient,
  ThreadClientOptions,
  ThreadClientStats,
} from "./client-options.ts";
import { EventStreams } from "./event-queue.ts";
import type { ThreadExtension } from "./extensions.ts";
import { Follows } from "./follows.ts";
import { type ClientLimits, clientLimits } from "./limits.ts";
import { checkThreadClientOptions } from "./option-names.ts";
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
import { ThreadSession } from "./thread-session.ts";
import { openSubscription, type ThreadSubscription } from "./thread-subscription.ts";
import type { LiveTurn, TurnHandle } from "./turn-handle.ts";
import { Turns, toInputParts } from "./turns.ts";
import type { ThreadHistory } from "./validation.ts";

class Client implements ThreadClient {
  readonly #options: ThreadClientOptions;
  readonly #limits: ClientLimits;
  readonly #session: ThreadSession;
  readonly #follows: Follows;
  readonly #turns: Turns;
  readonly #approvals: ApprovalCalls;
  readonly #streams: EventStreams;

  constructor(options: ThreadClientOptions) {
    const limits = clientLimits.resolve(options.limits);
    this.#options = options;
    this.#limits = limits;
    this.#streams = new EventStreams({ limits, onError: this.#onError });
    this.#follows = new Follows((threadId, error) => this.#turns.lose(threadId, error));
    this.#session = new ThreadSession(options, {
      resume: (connection) => this.#follows.resume(connection),
      onEvent: (event) => this.#receive(event),
      onDeleted: (threadId) => this.#deleted(threadId),
      onLost: (error) => this.#interrupted(error),
      onClose: (error, inGoodOrder) => this.#lost(error, inGoodOrder),
      onError: this.#onError,
    });
    const session = this.#session;
    this.#approvals = new ApprovalCalls({
      session,
      maxOpenApprovals: limits.maxOpenApprovals,
      onError: this.#onError,
    });
    this.#turns = new Turns({
      session,
      follows: this.#follows,
      limits,
      onEvent: (event, turn) => this.#observe(event, turn),
      onError: this.#onError,
    });
  }

  async connect(options: ConnectOptions = {}): Promise<Initialized> {
    return this.#session.connect(options);
  }

  get serverVersion(): string {
    return this.#session.server.version;
  }

  get capabilities(): Initialized["capabilities"] {
    return this.#session.server.capabilities;
  }

  stats(): ThreadClientStats {
    return this.#session.stats;
  }

  get state(): SessionState {
    return this.#session.state;
  }

  get closed(): Promise<CloseReason> {
    return this.#session.closed;
  }

  onState(listener: (state: SessionState) => void): () => void {
    return this.#session.onState(listener);
  }

  async createThread(params: CreateThreadParams = {}, options?: RequestOptions): Promise<Thread> {
    const { clientRequestId, ...fields } = params;
    return (await this.#session.callNamed("thread.create", fields, clientRequestId, options)).thread;
  }

  async listThreads(options: ListThreadsOptions = {}): Promise<ThreadPage> {
    const session = this.#session;
    const { limit, cursor, directory, title, updatedAfter, archived, ...request } = options;
    const paging = { limit, cursor, directory, title, updatedAfter };
    if (Object.values(paging).some((value) => value !== undefined)) session.require("paging", "thread.list");
    if (archived !== undefined) session.require("archive", "thread.list");
    const fields = { ...paging, archived, limit: limit ?? (session.has("paging") ? wholePage : undefined) };
    const readPage = (next: string | undefined): Promise<ThreadPage> =>
      session.call("thread.list", { ...fields, cursor: next }, request);
    if (limit !== undefined) return readPage(cursor);
    return readThreads(readPage, { cursor, maxPages: this.#limits.maxPages });
  }

  async *allThreads(options: Omit<ListThreadsOptions, "cursor"> = {}): AsyncGenerator<Thread, void> {
    const paged = this.#session.has("paging") ? { ...options, limit: options.limit ?? 100 } : options;
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
      this.#session.call("thread.get", { threadId, afterSeq: after, limit: most }, request);
    if (!this.#session.has("paging")) return readPage(afterSeq, limit);
    const { maxPages } = this.#limits;
    return readHistory(readPage, { afterSeq, limit, maxPages, onTooLarge: this.#onError });
  }

  async deleteThread(threadId: string, options?: RequestOptions): Promise<void> {
    this.#session.require("delete", "thread.delete");
    await this.#session.call("thread.delete", { threadId }, options);
  }

  renameThread(threadId: string, title: string, options?: RequestOptions): Promise<Thread> {
    return this.#change("rename", "thread.rename", { threadId, title }, options);
  }

  archiveThread(threadId: string, options?: RequestOptions): Promise<Thread> {
    return this.#change("archive", "thread.archive", { threadId }, options);
  }

  unarchiveThread(threadId: string, options?: RequestOptions): Promise<Thread> {
    return this.#change("archive", "thread.unarchive", { threadId }, options);
  }

  async forkThread(threadId: string, options: ForkThreadOptions = {}): Promise<Thread> {
    const { seq, title, clientRequestId, ...request } = options;
    this.#session.require("fork", "thread.fork");
    const fields = { threadId, seq, title };
    return (await this.#session.callNamed("thread.fork", fields, clientRequestId, request)).thread;
  }

  async searchThreads(query: string, options: SearchThreadsOptions = {}): Promise<SearchPage> {
    const { limit, cursor, threadId, directory, archived, ...request } = options;
    this.#session.require("search", "thread.search");
    const fields = { query, limit, cursor, threadId, directory, archived };
    return this.#session.call("thread.search", fields, { ...request, repeatable: true });
  }

  async listQueue(threadId: string, options?: RequestOptions): Promise<readonly QueuedTurn[]> {
    this.#session.require("queue", "queue.list");
    return (await this.#session.call("queue.list", { threadId }, { ...options, repeatable: true })).queued;
  }

  async subscribe(threadId: string, options: SubscribeOptions = {}): Promise<ThreadSubscription> {
    this.#session.require("subscribe", "thread.subscribe");
    return openSubscription(threadId, options, {
      session: this.#session,
      follows: this.#follows,
      limits: this.#limits,
      onError: this.#onError,
    });
  }

  async startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    return within(() => this.#turns.start(options), { name: "turn.start", signal: options.signal });
  }

  async compactThread(options: Parameters<ThreadClient["compactThread"]>[0]): Promise<TurnHandle> {
    return within(() => this.#turns.compact(options), { name: "thread.compact", signal: options.signal });
  }

  async submitTurn(options: SubmitTurnOptions): Promise<string> {
    const { threadId, input, model, agent, whenBusy, clientRequestId, ...request } = options;
    if (whenBusy !== undefined) this.#session.require("queue", "turn.start");
    const fields = { threadId, input: toInputParts(input), model, agent, whenBusy };
    return (await this.#session.callNamed("turn.start", fields, clientRequestId, request)).turnId;
  }

  async cancelTurn(threadId: string, { turnId, ...options }: CancelTurnOptions = {}): Promise<void> {
    if (turnId !== undefined) this.#session.require("queue", "turn.cancel");
    await this.#session.call("turn.cancel", { threadId, turnId }, options);
  }

  async respondApproval(
    requestId: string,
    decision: ApprovalDecision,
    options: RespondApprovalOptions = {},
  ): Promise<void> {
    const { scope, match, digest, clientRequestId } = options;
    if ((scope ?? match ?? digest) !== undefined) this.#session.require("grants", "approval.respond");
    if (clientRequestId !== undefined) this.#session.require("clientRequestId", "approval.respond");
    this.#approvals.settle(requestId);
    await this.#approvals.respond(requestId, decision, options);
  }

  async listGrants(options: ListGrantsOptions = {}): Promise<readonly Grant[]> {
    this.#session.require("grants", "grant.list");
    const { threadId, directory, ...request } = options;
    return (await this.#session.call("grant.list", { threadId, directory }, request)).grants;
  }

  async revokeGrant(grantId: string, options: RequestOptions = {}): Promise<void> {
    this.#session.require("grants", "grant.revoke");
    await this.#session.call("grant.revoke", { grantId }, options);
  }

  events(): EventStream {
    return this.#streams.open();
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sent again after a loss, each of these has the same effect. */
  async #change(
    extension: ThreadExtension,
    method: "thread.rename" | "thread.archive" | "thread.unarchive",
    fields: Fields,
    options: RequestOptions | undefined,
  ): Promise<Thread> {
    this.#session.require(extension, method);
    return (await this.#session.call(method, fields, { ...options, repeatable: true })).thread;
  }

  #receive(event: EventBody): void {
    if (!this.#follows.accept(event)) return;
    this.#streams.push(event);
    this.#turns.route(event);
  }

  #deleted(threadId: string): void {
    this.#follows.deleted(threadId);
    callSafely(() => this.#options.onThreadDeleted?.(threadId));
  }

  #observe(event: EventBody, turn: LiveTurn | undefined): void {
    const own = turn?.approver;
    const observe = () =>
      this.#approvals.observe(event, own === "none" ? undefined : (own ?? this.#options.onApproval));
    if (turn) turn.within(observe);
    else observe();
  }

  /** Without subscriptions the client cannot know what a turn does meanwhile. */
  #interrupted(error: HarnessError): void {
    this.#follows.detach();
    if (this.#session.has("subscribe")) return;
    this.#turns.close(error);
    this.#approvals.abandon();
  }

  /** What waits learns of the loss; a stream of events just ends when the close was in good order. */
  #lost(error: HarnessError, inGoodOrder: boolean): void {
    this.#follows.close(error);
    this.#turns.close(error);
    this.#approvals.close();
    this.#streams.end(inGoodOrder ? undefined : error);
  }

  readonly #onError = (error: HarnessError): void => {
    callSafely(() => this.#options.onError?.(error));
  };
}

/**
 * Makes a client of the thread protocol; {@link ThreadClient.connect} opens the connection. Throws `invalid_argument` for invalid
 * limits or an invalid `reconnect`.
 */
export const createThreadClient = (options: ThreadClientOptions): ThreadClient =>
  new Client(checkThreadClientOptions(options));
