import type { ApprovalDecision, EventBody, Grant, ThreadMethodName } from "@harnesskit/protocol/threads";
import { type CloseReason, callSafely, type HarnessError, randomId } from "@harnesskit/wire";
import type { ConnectOptions, RequestOptions, SessionState } from "@harnesskit/wire/rpc";
import { within } from "@harnesskit/wire/time";
import { ApprovalCalls } from "./approval-calls.ts";
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
import { type Fields, type Initialized, type ServerConnection, unknownServer } from "./connection.ts";
import { UnsupportedError } from "./errors.ts";
import { EventStreams } from "./event-queue.ts";
import { hasExtension, type ThreadExtension } from "./extensions.ts";
import { Follows } from "./follows.ts";
import { type ClientLimits, clientLimits } from "./limits.ts";
import { checkThreadClientOptions } from "./option-names.ts";
import { ThreadCalls } from "./thread-calls.ts";
import { ThreadSession } from "./thread-session.ts";
import { openSubscription, type ThreadSubscription } from "./thread-subscription.ts";
import type { LiveTurn, TurnHandle } from "./turn-handle.ts";
import { Turns, toInputParts } from "./turns.ts";

class Client implements ThreadClient {
  readonly #options: ThreadClientOptions;
  readonly #limits: ClientLimits;
  readonly #session: ThreadSession;
  readonly #follows: Follows;
  readonly #turns: Turns;
  readonly #threads: ThreadCalls;
  readonly #approvals: ApprovalCalls;
  readonly #streams: EventStreams;
  #server = unknownServer;

  readonly createThread: ThreadClient["createThread"] = (...args) => this.#threads.create(...args);
  readonly listThreads: ThreadClient["listThreads"] = (...args) => this.#threads.list(...args);
  readonly allThreads: ThreadClient["allThreads"] = (...args) => this.#threads.all(...args);
  readonly getThread: ThreadClient["getThread"] = (...args) => this.#threads.get(...args);
  readonly deleteThread: ThreadClient["deleteThread"] = (...args) => this.#threads.delete(...args);
  readonly renameThread: ThreadClient["renameThread"] = (...args) => this.#threads.rename(...args);
  readonly archiveThread: ThreadClient["archiveThread"] = (...args) => this.#threads.archive(...args);
  readonly unarchiveThread: ThreadClient["unarchiveThread"] = (...args) => this.#threads.unarchive(...args);
  readonly forkThread: ThreadClient["forkThread"] = (...args) => this.#threads.fork(...args);
  readonly searchThreads: ThreadClient["searchThreads"] = (...args) => this.#threads.search(...args);
  readonly listQueue: ThreadClient["listQueue"] = (...args) => this.#threads.queue(...args);

  constructor(options: ThreadClientOptions) {
    const { transport, reconnect, requestTimeoutMs, clock } = options;
    const limits = clientLimits.resolve(options.limits);
    this.#options = options;
    this.#limits = limits;
    this.#streams = new EventStreams({ limits, onError: this.#onError });
    this.#follows = new Follows((threadId, error) => this.#turns.lose(threadId, error));
    this.#approvals = new ApprovalCalls({
      maxOpenApprovals: limits.maxOpenApprovals,
      hasGrants: () => this.#has("grants"),
      send: async (fields, clientRequestId, request) => {
        await this.#callNamed("approval.respond", fields, clientRequestId, request);
      },
      onError: this.#onError,
    });
    this.#session = new ThreadSession({
      transport,
      reconnect,
      requestTimeoutMs,
      clock,
      introduce: (connection, signal) => this.#introduce(connection, signal),
      onEvent: (event) => this.#receive(event),
      onDeleted: (threadId) => this.#deleted(threadId),
      onLost: (error) => this.#interrupted(error),
      onClose: (error, inGoodOrder) => this.#lost(error, inGoodOrder),
      onError: this.#onError,
    });
    this.#threads = new ThreadCalls({
      call: (...args) => this.#session.call(...args),
      callNamed: (...args) => this.#callNamed(...args),
      has: (extension) => this.#has(extension),
      need: (extension, method) => this.#require(extension, method),
      maxPages: limits.maxPages,
      onError: this.#onError,
    });
    this.#turns = new Turns({
      session: this.#session,
      limits,
      follow: async (threadId) => (this.#has("subscribe") ? this.#follows.follow(threadId) : undefined),
      release: (follow) => this.#follows.release(follow),
      send: async (fields, timeoutMs) => {
        const request = timeoutMs === undefined ? {} : { timeoutMs };
        return this.#callNamed("turn.start", fields, undefined, request);
      },
      cancel: (threadId, turnId) => this.cancelTurn(threadId, this.#has("queue") ? { turnId } : {}),
      onEvent: (event, turn) => this.#observe(event, turn),
      onError: this.#onError,
    });
  }

  async connect(options: ConnectOptions = {}): Promise<Initialized> {
    return this.#session.connect(options);
  }

  get serverVersion(): string {
    return this.#server.version;
  }

  get capabilities(): Initialized["capabilities"] {
    return this.#server.capabilities;
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

  async subscribe(threadId: string, options: SubscribeOptions = {}): Promise<ThreadSubscription> {
    this.#require("subscribe", "thread.subscribe");
    const { signal } = options;
    const open = async () => {
      const opened = openSubscription(this.#follows, threadId, options, {
        limits: this.#limits,
        readPage: (afterSeq, limit) =>
          this.#session.call("thread.get", { threadId, afterSeq, limit }, { repeatable: true }),
        onError: this.#onError,
      });
      try {
        await this.#session.whenReconnected(signal);
      } catch (error) {
        opened.then(
          (late) => late.close(),
          () => {},
        );
        throw error;
      }
      return opened;
    };
    return within(open, { name: "thread.subscribe", signal });
  }

  async startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { signal, whenBusy } = options;
    if (whenBusy !== undefined) this.#require("queue", "turn.start");
    return within(() => this.#turns.start(options), { name: "turn.start", signal });
  }

  async submitTurn(options: SubmitTurnOptions): Promise<string> {
    const { threadId, input, model, agent, whenBusy, clientRequestId, ...request } = options;
    if (whenBusy !== undefined) this.#require("queue", "turn.start");
    const fields = { threadId, input: toInputParts(input), model, agent, whenBusy };
    return (await this.#callNamed("turn.start", fields, clientRequestId, request)).turnId;
  }

  async cancelTurn(threadId: string, { turnId, ...options }: CancelTurnOptions = {}): Promise<void> {
    if (turnId !== undefined) this.#require("queue", "turn.cancel");
    await this.#session.call("turn.cancel", { threadId, turnId }, options);
  }

  async respondApproval(
    requestId: string,
    decision: ApprovalDecision,
    options: RespondApprovalOptions = {},
  ): Promise<void> {
    const { scope, digest, clientRequestId } = options;
    if (scope !== undefined || digest !== undefined) this.#require("grants", "approval.respond");
    if (clientRequestId !== undefined) this.#require("clientRequestId", "approval.respond");
    this.#approvals.settle(requestId);
    await this.#approvals.respond(requestId, decision, options);
  }

  async listGrants(options: ListGrantsOptions = {}): Promise<readonly Grant[]> {
    this.#require("grants", "grant.list");
    const { threadId, directory, ...request } = options;
    return (await this.#session.call("grant.list", { threadId, directory }, request)).grants;
  }

  async revokeGrant(grantId: string, options: RequestOptions = {}): Promise<void> {
    this.#require("grants", "grant.revoke");
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

  #has(extension: ThreadExtension): boolean {
    return hasExtension(this.capabilities, extension);
  }

  /** Throws `unsupported` when the server did not announce the extension. */
  #require(extension: ThreadExtension, method: string): void {
    if (!this.#has(extension)) throw new UnsupportedError(method, extension);
  }

  /** Calls a method under a name, where the server knows such names: then it is sent again after a loss. */
  #callNamed<M extends ThreadMethodName>(
    method: M,
    fields: Fields,
    given: string | undefined,
    options: RequestOptions,
  ) {
    if (given !== undefined) this.#require("clientRequestId", method);
    if (!this.#has("clientRequestId")) return this.#session.call(method, fields, options);
    const { createId = randomId } = this.#options;
    const clientRequestId = given ?? createId("req");
    return this.#session.call(method, { ...fields, clientRequestId }, { ...options, repeatable: true });
  }

  /** Resumes what was followed; a server that cannot do that any more is of no use. */
  async #introduce(connection: ServerConnection, signal: AbortSignal): Promise<Initialized> {
    const followed = this.#server !== unknownServer && this.#has("subscribe");
    const server = await connection.initialize(this.#options.clientInfo, signal);
    this.#server = server;
    if (followed) this.#require("subscribe", "thread.subscribe");
    await this.#follows.resume(connection);
    return server;
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
    if (this.#has("subscribe")) return;
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
