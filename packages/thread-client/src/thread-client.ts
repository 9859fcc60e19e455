import {
  type ApprovalDecision,
  type EventBody,
  THREAD_PROTOCOL_VERSION,
  type Thread,
  type ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import {
  BufferFullError,
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
import { EventQueue } from "./event-queue.ts";
import { type BufferLimits, defaultBufferLimits, defaultMaxOpenApprovals } from "./limits.ts";
import { LiveTurn, type TurnHandle } from "./turn-handle.ts";
import { TurnRegistry } from "./turn-registry.ts";
import { parseHistory, parseResult, type ThreadHistory } from "./validation.ts";

type Initialized = ThreadMethodResult<"initialize">;

class Client implements ThreadClient {
  readonly #connection: Connection;
  readonly #turns: TurnRegistry;
  readonly #approvals: ApprovalDesk;
  readonly #streams = new Set<EventQueue>();
  readonly #limits: BufferLimits;
  readonly #onApproval: ApprovalHandler | undefined;
  readonly #onError: (error: HarnessError) => void;
  #server: Initialized | undefined;
  #end: { error?: HarnessError } | undefined;

  constructor(channel: Channel, options: ThreadClientOptions) {
    const { maxBufferedEvents, maxBufferedDeltaChars } = options;
    this.#limits = {
      maxBufferedEvents: maxBufferedEvents ?? defaultBufferLimits.maxBufferedEvents,
      maxBufferedDeltaChars: maxBufferedDeltaChars ?? defaultBufferLimits.maxBufferedDeltaChars,
    };
    this.#onApproval = options.onApproval;
    this.#onError = guarded(options.onError);
    this.#turns = new TurnRegistry(this.#limits, (event, turn) => this.#observe(event, turn));
    this.#approvals = new ApprovalDesk({
      maxOpenApprovals: options.maxOpenApprovals ?? defaultMaxOpenApprovals,
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
    const params = clientInfo ? { clientInfo: defined(clientInfo) } : {};
    const parse = (result: unknown) => parseResult("initialize", result);
    const server = await this.#connection.call("initialize", params, parse, signal ? { signal } : {});
    if (majorOf(server.version) !== majorOf(THREAD_PROTOCOL_VERSION)) {
      throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
    }
    this.#server = server;
  }

  get serverVersion(): string {
    return this.#server?.version ?? "";
  }

  get capabilities(): Initialized["capabilities"] {
    return this.#server?.capabilities ?? noCapabilities;
  }

  get stats(): ThreadClientStats {
    return this.#connection.stats;
  }

  get closed(): Promise<CloseReason> {
    return this.#connection.closed;
  }

  async createThread(params: CreateThreadParams = {}, options: RequestOptions = {}): Promise<Thread> {
    const { title, directory } = params;
    const parse = (result: unknown) => parseResult("thread.create", result);
    return (await this.#connection.call("thread.create", defined({ title, directory }), parse, options)).thread;
  }

  async listThreads(options: RequestOptions = {}): Promise<Thread[]> {
    const parse = (result: unknown) => parseResult("thread.list", result);
    return (await this.#connection.call("thread.list", {}, parse, options)).threads;
  }

  getThread(threadId: string, options: GetThreadOptions = {}): Promise<ThreadHistory> {
    const { afterSeq, limit, ...request } = options;
    return this.#connection.call("thread.get", defined({ threadId, afterSeq, limit }), parseHistory, request);
  }

  async startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { signal } = options;
    if (!signal) return this.#startTurn(options);
    if (signal.aborted) throw new RequestCancelledError("turn.start", { cause: signal.reason });
    return unlessAborted(this.#startTurn(options), signal);
  }

  async cancelTurn(threadId: string, options: RequestOptions = {}): Promise<void> {
    const parse = (result: unknown) => parseResult("turn.cancel", result);
    await this.#connection.call("turn.cancel", { threadId }, parse, options);
  }

  respondApproval(requestId: string, decision: ApprovalDecision, options: RequestOptions = {}): Promise<void> {
    this.#approvals.settle(requestId);
    return this.#respond(requestId, decision, options);
  }

  events(): EventStream {
    const stream = new EventQueue({
      limits: this.#limits,
      onItemDropped: () =>
        this.#onError(new BufferFullError("maxBufferedEvents", this.#limits.maxBufferedEvents)),
      onLeave: () => close(),
    });
    const close = () => {
      this.#streams.delete(stream);
      stream.end();
    };
    if (this.#end) stream.end(this.#end.error);
    else this.#streams.add(stream);
    return {
      get droppedDeltas() {
        return stream.droppedDeltas;
      },
      get droppedItems() {
        return stream.droppedItems;
      },
      close,
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
    };
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #startTurn(options: StartTurnOptions): Promise<TurnHandle> {
    const { threadId, input, model, agent, timeoutMs } = options;
    const parts = typeof input === "string" ? [{ type: "text", text: input }] : input;
    const params = defined({ threadId, input: parts, model, agent });
    const parse = (result: unknown) => parseResult("turn.start", result);
    this.#turns.expect(threadId);
    try {
      const request = timeoutMs === undefined ? {} : { timeoutMs };
      const { turnId } = await this.#connection.call("turn.start", params, parse, request);
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
    if (this.#end) turn.lose(this.#end.error);
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
    const parse = (result: unknown) => parseResult("approval.respond", result);
    await this.#connection.call("approval.respond", { requestId, decision }, parse, options);
  }

  #receive(event: EventBody): void {
    for (const stream of this.#streams) stream.push(event);
    this.#turns.route(event);
  }

  #observe(event: EventBody, turn: LiveTurn | undefined): void {
    const own = turn?.approver;
    this.#approvals.observe(event, own === "nobody" ? undefined : (own ?? this.#onApproval));
  }

  /** What waits learns of the loss; a stream of events just ends when the close was in good order. */
  #lost(error: HarnessError, reason: CloseReason): void {
    this.#end = { error };
    this.#turns.close(error);
    this.#approvals.close();
    for (const stream of this.#streams) stream.end(reason.error ? error : undefined);
    this.#streams.clear();
  }
}

const noCapabilities: Initialized["capabilities"] = {
  threads: false,
  turns: false,
  approvals: false,
  streaming: false,
  persistence: false,
};

const majorOf = (version: string): string | undefined => /^(\d{1,9})\.\d/.exec(version)?.[1];

/** The same fields, without those that are undefined: JSON knows no such value. */
const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
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

/** Rejects with `request_cancelled` as soon as the signal aborts; what was begun goes on unheard. */
const unlessAborted = <T>(begun: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = () => reject(new RequestCancelledError("turn.start", { cause: signal.reason }));
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = () => signal.removeEventListener("abort", onAbort);
    begun.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });

/**
 * Opens a channel, introduces the client and checks the server's version. Rejects with `version_mismatch`
 * ({@link VersionMismatchError}) when the major versions differ, with `transport_failed` when the server cannot be
 * reached, and with the errors of a call ({@link ThreadClient}); the channel is closed then.
 */
export const createThreadClient = async (options: ThreadClientOptions): Promise<ThreadClient> => {
  const { transport, signal } = options;
  const channel = await transport.connect(signal ? { signal } : {});
  const client = new Client(channel, options);
  try {
    await client.initialize(options);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
};
