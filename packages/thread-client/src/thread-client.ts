import type {
  ApprovalDecision,
  EventBody,
  Grant,
  Thread,
  ThreadMethodName,
} from "@harnesskit/protocol/threads";
import {
  type Channel,
  type CloseReason,
  ConnectionClosedError,
  type CreateId,
  type HarnessError,
  RequestCancelledError,
  type RequestOptions,
  randomId,
} from "@harnesskit/wire";
import { ApprovalDesk } from "./approval-desk.ts";
import type {
  CreateThreadParams,
  EventStream,
  GetThreadOptions,
  ListGrantsOptions,
  ListThreadsOptions,
  RespondApprovalOptions,
  StartTurnOptions,
  SubscribeOptions,
  ThreadClient,
  ThreadClientOptions,
  ThreadClientStats,
  ThreadPage,
} from "./client-options.ts";
import type { Connection } from "./connection.ts";
import { defined, type Fields } from "./defined.ts";
import { MalformedMessageError, ThreadError } from "./errors.ts";
import { EventStreams } from "./event-streams.ts";
import { hasExtension, requireExtension, type ThreadExtension } from "./extensions.ts";
import { Follows } from "./follows.ts";
import { guarded } from "./guarded.ts";
import { type Initialized, initialize, unknownServer } from "./handshake.ts";
import { type ClientLimits, resolveLimits } from "./limits.ts";
import { type CallOptions, type ConnectionState, isLoss, Link } from "./link.ts";
import { readPast } from "./read-past.ts";
import { type ReconnectPolicy, resolveReconnect } from "./reconnect.ts";
import { checkAfterSeq, LiveSubscription, type ThreadSubscription } from "./thread-subscription.ts";
import { LiveTurn, type TurnHandle } from "./turn-handle.ts";
import { TurnRegistry } from "./turn-registry.ts";
import { untilAborted } from "./until-aborted.ts";
import { parseHistory, parseResult, type ThreadHistory } from "./validation.ts";

class Client implements ThreadClient {
  readonly #options: ThreadClientOptions;
  readonly #link: Link;
  readonly #follows: Follows;
  readonly #turns: TurnRegistry;
  readonly #approvals: ApprovalDesk;
  readonly #streams: EventStreams;
  readonly #limits: ClientLimits;
  readonly #createId: CreateId;
  readonly #onError: (error: HarnessError) => void;
  #server = unknownServer;

  constructor(channel: Channel, options: ThreadClientOptions, settings: Settings) {
    const { limits, policy } = settings;
    this.#options = options;
    this.#limits = limits;
    this.#createId = options.createId ?? randomId;
    this.#onError = guarded(options.onError);
    this.#streams = new EventStreams({ limits, onError: this.#onError });
    this.#turns = new TurnRegistry(limits, (event, turn) => this.#observe(event, turn));
    this.#follows = new Follows((threadId, error) => this.#turns.lose(threadId, error));
    this.#approvals = new ApprovalDesk({
      maxOpenApprovals: limits.maxOpenApprovals,
      respond: (requestId, answer) =>
        answer === "unattended"
          ? this.#respond(requestId, "reject", { reason: answer })
          : this.#respond(requestId, answer),
      onError: this.#onError,
    });
    this.#link = new Link(channel, {
      transport: options.transport,
      policy,
      requestTimeoutMs: options.requestTimeoutMs,
      clock: options.clock,
      onEvent: (event) => this.#receive(event),
      onDeleted: (threadId) => this.#deleted(threadId),
      onLost: (error) => this.#interrupted(error),
      resume: (connection) => this.#resume(connection),
      onClose: (error, reason) => this.#lost(error, reason),
      onError: this.#onError,
    });
  }

  /** Introduces this client on its first connection. */
  async open(): Promise<void> {
    const { signal, clientInfo } = this.#options;
    const connection = this.#link.connection;
    if (!connection) throw this.#link.error ?? new ConnectionClosedError();
    this.#server = await initialize(connection, clientInfo, signal ? { signal } : {});
    this.#follows.attach(connection);
    this.#link.establish();
  }

  get serverVersion(): string {
    return this.#server.version;
  }

  get capabilities(): Initialized["capabilities"] {
    return this.#server.capabilities;
  }

  get stats(): ThreadClientStats {
    return this.#link.stats;
  }

  get state(): ConnectionState {
    return this.#link.state;
  }

  get closed(): Promise<CloseReason> {
    return this.#link.closed;
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#link.onState(listener);
  }

  async createThread(params: CreateThreadParams = {}, options: RequestOptions = {}): Promise<Thread> {
    const { title, directory, clientRequestId } = params;
    const named = this.#named("thread.create", clientRequestId);
    const fields = { title, directory, ...named };
    return (await this.#call("thread.create", fields, { ...options, ...repeatableIf(named) })).thread;
  }

  async listThreads(options: ListThreadsOptions = {}): Promise<ThreadPage> {
    const { limit, cursor, directory, title, updatedAfter, ...request } = options;
    const fields = defined({ limit, cursor, directory, title, updatedAfter });
    if (Object.keys(fields).length > 0) this.#require("paging", "thread.list");
    return this.#call("thread.list", fields, request);
  }

  async *allThreads(options: Omit<ListThreadsOptions, "cursor"> = {}): AsyncGenerator<Thread, void> {
    const paged = this.#has("paging") ? { limit: 100, ...options } : options;
    let cursor: string | undefined;
    do {
      const page = await this.listThreads({ ...paged, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.threads;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  getThread(threadId: string, options: GetThreadOptions = {}): Promise<ThreadHistory> {
    const { afterSeq, limit, ...request } = options;
    return this.#link.call("thread.get", defined({ threadId, afterSeq, limit }), parseHistory, request);
  }

  async deleteThread(threadId: string, options: RequestOptions = {}): Promise<void> {
    this.#require("delete", "thread.delete");
    await this.#call("thread.delete", { threadId }, options);
  }

  async subscribe(threadId: string, options: SubscribeOptions = {}): Promise<ThreadSubscription> {
    this.#require("subscribe", "thread.subscribe");
    checkAfterSeq(options.afterSeq);
    const { signal } = options;
    if (!signal) return this.#subscribe(threadId, options);
    if (signal.aborted) throw new RequestCancelledError("thread.subscribe", { cause: signal.reason });
    return untilAborted("thread.subscribe", this.#subscribe(threadId, options), signal);
  }

  async startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { signal } = options;
    if (!signal) return this.#startTurn(options);
    if (signal.aborted) throw new RequestCancelledError("turn.start", { cause: signal.reason });
    return untilAborted("turn.start", this.#startTurn(options), signal);
  }

  async cancelTurn(threadId: string, options: RequestOptions = {}): Promise<void> {
    await this.#call("turn.cancel", { threadId }, options);
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
    await this.#respond(requestId, decision, options);
  }

  async listGrants(options: ListGrantsOptions = {}): Promise<readonly Grant[]> {
    this.#require("grants", "grant.list");
    const { threadId, directory, ...request } = options;
    return (await this.#call("grant.list", { threadId, directory }, request)).grants;
  }

  async revokeGrant(grantId: string, options: RequestOptions = {}): Promise<void> {
    this.#require("grants", "grant.revoke");
    await this.#call("grant.revoke", { grantId }, options);
  }

  events(): EventStream {
    return this.#streams.open();
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  #has(extension: ThreadExtension): boolean {
    return hasExtension(this.capabilities, extension);
  }

  #require(extension: ThreadExtension, method: string): void {
    requireExtension(this.capabilities, extension, method);
  }

  /** The name under which a request can be sent again, where the server knows such names. */
  #named(method: string, given: string | undefined): { clientRequestId?: string } {
    if (given !== undefined) this.#require("clientRequestId", method);
    if (!this.#has("clientRequestId")) return {};
    return { clientRequestId: given ?? this.#createId("req") };
  }

  #call<M extends ThreadMethodName>(method: M, params: Fields, options?: CallOptions) {
    return this.#link.call(method, defined(params), (result) => parseResult(method, result), options);
  }

  /** What was followed goes on; a server that cannot do that any more is none to go on with. */
  async #resume(connection: Connection): Promise<void> {
    const followed = this.#has("subscribe");
    this.#server = await initialize(connection, this.#options.clientInfo, {});
    if (followed) this.#require("subscribe", "thread.subscribe");
    await this.#follows.resume(connection);
  }

  async #subscribe(threadId: string, { afterSeq, signal }: SubscribeOptions): Promise<ThreadSubscription> {
    const follow = await this.#follows.follow(threadId);
    const { thread, cursor: lastSeq } = follow;
    if (signal?.aborted || !thread || lastSeq === undefined) {
      this.#follows.release(follow);
      throw new RequestCancelledError("thread.subscribe", { cause: signal?.reason });
    }
    return new LiveSubscription({
      follow,
      thread,
      lastSeq,
      afterSeq,
      limits: this.#limits,
      readPast: (after, to) => readPast((from, limit) => this.#readPage(threadId, from, limit), after, to),
      release: () => this.#follows.release(follow),
      onError: this.#onError,
    });
  }

  #readPage(threadId: string, afterSeq: number, limit: number): Promise<ThreadHistory> {
    return this.#link.call("thread.get", { threadId, afterSeq, limit }, parseHistory, { repeatable: true });
  }

  async #startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { threadId, input, model, agent, timeoutMs, signal } = options;
    const named = this.#named("turn.start", undefined);
    const follow = this.#has("subscribe") ? await this.#follows.follow(threadId) : undefined;
    const release = () => {
      if (follow) this.#follows.release(follow);
    };
    const parts = typeof input === "string" ? [{ type: "text", text: input }] : input;
    this.#turns.expect(threadId);
    try {
      if (signal?.aborted) throw new RequestCancelledError("turn.start", { cause: signal.reason });
      const request = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...repeatableIf(named) };
      const fields = { threadId, input: parts, model, agent, ...named };
      const { turnId } = await this.#call("turn.start", fields, request);
      const turn = this.#adopt(turnId, options, release);
      // A thread that was lost meanwhile tells nothing of its turn.
      if (follow?.ended?.error) turn.lose(follow.ended.error);
      return turn;
    } catch (error) {
      this.#turns.release(threadId);
      release();
      throw error;
    }
  }

  #adopt(turnId: string, { threadId, onApproval, signal }: StartTurnOptions, onEnd: () => void): LiveTurn {
    const turn: LiveTurn = new LiveTurn({
      turnId,
      threadId,
      limits: this.#limits,
      onApproval,
      signal,
      cancel: () => this.#cancelOwn(turn),
      onEnd,
      onError: this.#onError,
    });
    if (!this.#turns.adopt(turn)) throw new MalformedMessageError("turn.start", "the turn was named before");
    if (this.#link.error) turn.lose(this.#link.error);
    turn.watchSignal();
    return turn;
  }

  /** A turn that ended meanwhile needs no cancelling; one that goes on over a loss still does. */
  async #cancelOwn(turn: LiveTurn): Promise<void> {
    while (!turn.ended) {
      try {
        await this.cancelTurn(turn.threadId);
        return;
      } catch (error) {
        if (ThreadError.isInstance(error) && error.code === "turn_not_found") return;
        if (!isLoss(error)) throw error;
        await this.#link.overLoss();
        if (turn.ended || this.#link.error) throw error;
      }
    }
  }

  /** Where the server compares digests, it gets the one that was verified here; other servers know no reason either. */
  async #respond(
    requestId: string,
    decision: ApprovalDecision,
    options: RespondApprovalOptions = {},
  ): Promise<void> {
    const { reason, scope, digest, clientRequestId, ...request } = options;
    const named = this.#named("approval.respond", clientRequestId);
    const isExtended = this.#has("grants");
    const verified = isExtended ? this.#approvals.verifiedDigest(requestId) : undefined;
    const why = isExtended && reason !== undefined ? { reason } : {};
    const fields = { requestId, decision, ...why, scope, digest: digest ?? verified, ...named };
    await this.#call("approval.respond", fields, { ...request, ...repeatableIf(named) });
  }

  #receive(event: EventBody): void {
    if (!this.#follows.accept(event)) return;
    this.#streams.push(event);
    this.#turns.route(event);
  }

  #deleted(threadId: string): void {
    this.#follows.deleted(threadId);
    guarded(this.#options.onThreadDeleted)(threadId);
  }

  #observe(event: EventBody, turn: LiveTurn | undefined): void {
    const own = turn?.approver;
    this.#approvals.observe(event, own === "nobody" ? undefined : (own ?? this.#options.onApproval));
  }

  /** Without subscriptions nobody can tell what a turn does meanwhile. */
  #interrupted(error: HarnessError): void {
    this.#follows.detach();
    if (this.#has("subscribe")) return;
    this.#turns.close(error);
    this.#approvals.abandon();
  }

  /** What waits learns of the loss; a stream of events just ends when the close was in good order. */
  #lost(error: HarnessError, reason: CloseReason): void {
    this.#follows.close(error);
    this.#turns.close(error);
    this.#approvals.close();
    this.#streams.end(reason.error ? error : undefined);
  }
}

interface Settings {
  readonly limits: ClientLimits;
  readonly policy: ReconnectPolicy | undefined;
}

const repeatableIf = ({ clientRequestId }: { clientRequestId?: string }) => ({
  repeatable: clientRequestId !== undefined,
});

/**
 * Opens a channel, introduces the client and checks the server's version. Rejects with `version_mismatch`
 * ({@link VersionMismatchError}) when the major versions differ, with `transport_failed` when the server cannot be
 * reached, with `invalid_argument` for a limit or a `reconnect` that is none, and with the errors of a call ({@link ThreadClient}); the
 * channel is closed then, and not waited for.
 */
export const createThreadClient = async (options: ThreadClientOptions): Promise<ThreadClient> => {
  const { transport, signal } = options;
  const settings = { limits: resolveLimits(options), policy: resolveReconnect(options.reconnect) };
  const channel = await transport.connect(signal ? { signal } : {});
  const client = new Client(channel, options, settings);
  try {
    await client.open();
    return client;
  } catch (error) {
    void client.close();
    throw error;
  }
};
