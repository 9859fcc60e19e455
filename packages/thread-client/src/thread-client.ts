import {
  type ApprovalDecision,
  type EventBody,
  THREAD_PROTOCOL_VERSION,
  type Thread,
  type ThreadMethodName,
  type ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import {
  type Channel,
  type CloseReason,
  type HarnessError,
  RequestCancelledError,
  type RequestOptions,
} from "@harnesskit/wire";
import { ApprovalDesk, type ApprovalHandler } from "./approval-desk.ts";
import type {
  CreateThreadParams,
  EventStream,
  GetThreadOptions,
  StartTurnOptions,
  ThreadClient,
  ThreadClientOptions,
  ThreadClientStats,
} from "./client-options.ts";
import { Connection } from "./connection.ts";
import { MalformedMessageError, ThreadError, VersionMismatchError } from "./errors.ts";
import { EventStreams } from "./event-streams.ts";
import { type ClientLimits, resolveLimits } from "./limits.ts";
import { LiveTurn, type TurnHandle } from "./turn-handle.ts";
import { TurnRegistry } from "./turn-registry.ts";
import { untilAborted } from "./until-aborted.ts";
import { parseHistory, parseResult, type ThreadHistory } from "./validation.ts";

type Fields = Readonly<Record<string, unknown>>;
type Initialized = ThreadMethodResult<"initialize">;

/** What is known of the server before it has answered `initialize`. */
const unknownServer: Initialized = {
  version: "",
  capabilities: { threads: false, turns: false, approvals: false, streaming: false, persistence: false },
};

class Client implements ThreadClient {
  readonly #connection: Connection;
  readonly #turns: TurnRegistry;
  readonly #approvals: ApprovalDesk;
  readonly #streams: EventStreams;
  readonly #limits: ClientLimits;
  readonly #onApproval: ApprovalHandler | undefined;
  readonly #onError: (error: HarnessError) => void;
  #server = unknownServer;
  #lostTo: HarnessError | undefined;

  constructor(channel: Channel, options: ThreadClientOptions, limits: ClientLimits) {
    this.#limits = limits;
    this.#onApproval = options.onApproval;
    this.#onError = guarded(options.onError);
    this.#streams = new EventStreams({ limits, onError: this.#onError });
    this.#turns = new TurnRegistry(limits, (event, turn) => this.#observe(event, turn));
    this.#approvals = new ApprovalDesk({
      maxOpenApprovals: limits.maxOpenApprovals,
      respond: (requestId, decision) => this.#respond(requestId, decision),
      onError: this.#onError,
    });
    this.#connection = new Connection(channel, {
      requestTimeoutMs: options.requestTimeoutMs,
      clock: options.clock,
      onEvent: (event) => this.#receive(event),
      onClose: (error, reason) => this.#lost(error, reason),
      onError: this.#onError,
    });
  }

  async initialize({ clientInfo, signal }: ThreadClientOptions): Promise<void> {
    const params = clientInfo
      ? { clientInfo: defined({ name: clientInfo.name, version: clientInfo.version }) }
      : {};
    const server = await this.#call("initialize", params, signal ? { signal } : {});
    if (majorOf(server.version) !== majorOf(THREAD_PROTOCOL_VERSION)) {
      throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
    }
    this.#server = server;
  }

  get serverVersion(): string {
    return this.#server.version;
  }

  get capabilities(): Initialized["capabilities"] {
    return this.#server.capabilities;
  }

  get stats(): ThreadClientStats {
    return this.#connection.stats;
  }

  get closed(): Promise<CloseReason> {
    return this.#connection.closed;
  }

  async createThread(params: CreateThreadParams = {}, options: RequestOptions = {}): Promise<Thread> {
    const { title, directory } = params;
    return (await this.#call("thread.create", defined({ title, directory }), options)).thread;
  }

  async listThreads(options: RequestOptions = {}): Promise<Thread[]> {
    return (await this.#call("thread.list", {}, options)).threads;
  }

  getThread(threadId: string, options: GetThreadOptions = {}): Promise<ThreadHistory> {
    const { afterSeq, limit, ...request } = options;
    return this.#connection.call("thread.get", defined({ threadId, afterSeq, limit }), parseHistory, request);
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

  respondApproval(
    requestId: string,
    decision: ApprovalDecision,
    options: RequestOptions = {},
  ): Promise<void> {
    this.#approvals.settle(requestId);
    return this.#respond(requestId, decision, options);
  }

  events(): EventStream {
    return this.#streams.open();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #call<M extends ThreadMethodName>(method: M, params: Fields, options?: RequestOptions) {
    return this.#connection.call(method, params, (result) => parseResult(method, result), options);
  }

  async #startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { threadId, input, model, agent, timeoutMs } = options;
    const parts = typeof input === "string" ? [{ type: "text", text: input }] : input;
    const params = defined({ threadId, input: parts, model, agent });
    this.#turns.expect(threadId);
    try {
      const request = timeoutMs === undefined ? {} : { timeoutMs };
      const { turnId } = await this.#call("turn.start", params, request);
      return this.#adopt(turnId, options);
    } catch (error) {
      this.#turns.release(threadId);
      throw error;
    }
  }

  #adopt(turnId: string, { threadId, onApproval, signal }: StartTurnOptions): LiveTurn {
    const turn = new LiveTurn({
      turnId,
      threadId,
      limits: this.#limits,
      onApproval,
      signal,
      cancel: () => this.#cancelOwn(threadId),
      onError: this.#onError,
    });
    if (!this.#turns.adopt(turn)) throw new MalformedMessageError("turn.start", "the turn was named before");
    if (this.#lostTo) turn.lose(this.#lostTo);
    turn.watchSignal();
    return turn;
  }

  /** A turn that ended meanwhile needs no cancelling. */
  async #cancelOwn(threadId: string): Promise<void> {
    try {
      await this.cancelTurn(threadId);
    } catch (error) {
      if (!ThreadError.isInstance(error) || error.code !== "turn_not_found") throw error;
    }
  }

  async #respond(requestId: string, decision: ApprovalDecision, options?: RequestOptions): Promise<void> {
    await this.#call("approval.respond", { requestId, decision }, options);
  }

  #receive(event: EventBody): void {
    this.#streams.push(event);
    this.#turns.route(event);
  }

  #observe(event: EventBody, turn: LiveTurn | undefined): void {
    const own = turn?.approver;
    this.#approvals.observe(event, own === "nobody" ? undefined : (own ?? this.#onApproval));
  }

  /** What waits learns of the loss; a stream of events just ends when the close was in good order. */
  #lost(error: HarnessError, reason: CloseReason): void {
    this.#lostTo = error;
    this.#turns.close(error);
    this.#approvals.close();
    this.#streams.end(reason.error ? error : undefined);
  }
}

const majorOf = (version: string): string | undefined => /^(\d{1,9})\.\d/.exec(version)?.[1];

/** The same fields, without those that are undefined: JSON knows no such value. */
const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const guarded =
  (onError: ((error: HarnessError) => void) | undefined) =>
  (error: HarnessError): void => {
    try {
      onError?.(error);
    } catch {
      // A log that fails has nobody to be reported to, and must not decide what becomes of a turn.
    }
  };

/**
 * Opens a channel, introduces the client and checks the server's version. Rejects with `version_mismatch`
 * ({@link VersionMismatchError}) when the major versions differ, with `transport_failed` when the server cannot be
 * reached, with `invalid_argument` for a limit that is none, and with the errors of a call ({@link ThreadClient}); the
 * channel is closed then, and not waited for.
 */
export const createThreadClient = async (options: ThreadClientOptions): Promise<ThreadClient> => {
  const { transport, signal } = options;
  const limits = resolveLimits(options);
  const channel = await transport.connect(signal ? { signal } : {});
  const client = new Client(channel, options, limits);
  try {
    await client.initialize(options);
    return client;
  } catch (error) {
    void client.close();
    throw error;
  }
};
