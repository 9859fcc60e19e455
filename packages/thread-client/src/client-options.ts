/// <reference lib="esnext.disposable" preserve="true" />
import type {
  ApprovalDecision,
  EventBody,
  Grant,
  GrantScope,
  InputPart,
  ModelRef,
  QueuedTurn,
  Thread,
  ThreadCapabilities,
  WhenBusy,
} from "@harnesskit/protocol/threads";
import type { Clock, CloseReason, CreateId, HarnessError, Transport } from "@harnesskit/wire";
import type { ConnectOptions, ReconnectOptions, RequestOptions, SessionState } from "@harnesskit/wire/rpc";
import type { ApprovalHandler } from "./approval-calls.ts";
import type { Initialized, ThreadHistory } from "./call-thread-server.ts";
import type { ClientLimits } from "./limits.ts";
import type {
  CreateThreadParams,
  ForkThreadOptions,
  GetThreadOptions,
  ListThreadsOptions,
  SearchPage,
  SearchThreadsOptions,
  ThreadPage,
} from "./thread-options.ts";
import type { ThreadSubscription } from "./thread-subscription.ts";
import type { TurnHandle } from "./turn-handle.ts";

export interface ThreadClientOptions {
  /** The way to the server. One channel is opened, and with `reconnect` another one after each loss. */
  readonly transport: Transport;
  /**
   * Replaces a lost connection and resumes from where it stopped. Use `false` for a transport whose `connect` starts a new
   * server that does not know the threads of the last one. @default 10 attempts, from 100 ms to 30 s apart
   */
  readonly reconnect?: false | ReconnectOptions | undefined;
  /** @default see each limit of `clientLimits` */
  readonly limits?: Partial<ClientLimits> | undefined;
  /** Makes the ids under which requests can be sent again. @default random ones */
  readonly createId?: CreateId | undefined;
  /** How the client introduces itself to the server. @default nothing */
  readonly clientInfo?: { readonly name: string; readonly version?: string } | undefined;
  /** How long a call waits for its answer; Infinity for ever. The length of a turn does not count. @default 60000 */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Decides on every approval that this client hears of (see {@link ThreadClient.events}), unless its turn has a
   * callback of its own: also on those of turns that other clients started. @default approvals are left to `respondApproval`
   */
  readonly onApproval?: ApprovalHandler | undefined;
  /**
   * Reports what failed behind the caller's back: a malformed message, an approval that was rejected here and why, events
   * lost to a limit. For a log. What it throws is ignored. @default no report, but `process.emitWarning` for what `onApproval` does wrong
   */
  readonly onError?: ((error: HarnessError) => void) | undefined;
  /** Receives each thread that was deleted, as far as this client hears of it. What it throws is ignored. @default no report */
  readonly onThreadDeleted?: ((threadId: string) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

export interface SubscribeOptions {
  /** Events with a greater number, those of the past first. @default only what comes */
  readonly afterSeq?: number | undefined;
  /** Gives the call up, not the subscription. @default never */
  readonly signal?: AbortSignal | undefined;
}

export interface ListGrantsOptions extends RequestOptions {
  readonly threadId?: string | undefined;
  readonly directory?: string | undefined;
}

export interface RespondApprovalOptions extends RequestOptions {
  /**
   * With `reject`: no user could be asked. Left out for a server without the extension `grants`.
   * @default a user, or a rule of this client, refused
   */
  readonly reason?: "unattended" | undefined;
  /** With `reject`: the user's reason, 1 to 2000 characters, which the agent reads. Left out for a server without the extension `grants`. */
  readonly note?: string | undefined;
  /** With `always`: how far it reaches. @default the server's choice, "thread" */
  readonly scope?: GrantScope | undefined;
  /** With `always`: `start` holds for the same command with other plain arguments, too. @default exactly this call */
  readonly match?: Grant["match"];
  /** What the user was shown; the server refuses another one than the call's. @default the digest that was verified here, if any */
  readonly digest?: string | undefined;
  /** The name of this request, for a caller who repeats it. @default a new one */
  readonly clientRequestId?: string | undefined;
}

export interface CancelTurnOptions extends RequestOptions {
  /** Only this turn; needs the extension `queue`. @default the active one */
  readonly turnId?: string | undefined;
}

/** What makes a summary of a thread. */
export type CompactThreadOptions = Omit<StartTurnOptions, "input" | "agent" | "whenBusy" | "onApproval">;

export interface StartTurnOptions {
  readonly threadId: string;
  /** What the agent is asked; a string is one text part. */
  readonly input: string | readonly InputPart[];
  /** @default the server's choice */
  readonly model?: ModelRef | undefined;
  /** The agent's name. @default the server's choice */
  readonly agent?: string | undefined;
  /**
   * What happens while a turn is active, also one of another client: `reject` with `turn_busy`, `queue` behind it, or `interrupt`: cancel
   * it, and begin before what waits. Needs the extension `queue`. @default the server's choice, "reject"
   */
  readonly whenBusy?: WhenBusy | undefined;
  /**
   * Cancels the turn. Aborted before the answer is here, `startTurn` rejects with `request_cancelled` at once, and the
   * turn is cancelled as soon as its id is known. After that its approvals are not asked. @default never
   */
  readonly signal?: AbortSignal | undefined;
  /** Decides on the approvals of this turn. @default the client's `onApproval` */
  readonly onApproval?: ApprovalHandler | undefined;
  /** How long to wait for the answer that the turn was started. @default the client's `requestTimeoutMs` */
  readonly timeoutMs?: number | undefined;
}

export interface SubmitTurnOptions
  extends Pick<StartTurnOptions, "threadId" | "input" | "model" | "agent" | "whenBusy">,
    RequestOptions {
  /** The name of this request, for a caller who repeats it: the same one starts no second turn. @default a new one */
  readonly clientRequestId?: string | undefined;
}

/** The events of the connection from the call of `events()` on. Leaving the loop, or `close`, ends it. */
export interface EventStream extends AsyncIterable<EventBody> {
  /** Deltas that were lost because no loop read them (`maxBufferedEvents`). */
  readonly droppedDeltas: number;
  /** Other events that were lost in the same way. */
  readonly droppedItems: number;
  /** Ends the stream. Idempotent. */
  close(): void;
}

/**
 * A client of one server of the thread protocol. Every call rejects with a `ThreadError` or another `ProtocolError`
 * that the server answered, or with `request_timeout`, `request_cancelled`, `connection_closed`, `buffer_full`,
 * `frame_too_large`, `transport_failed`, `invalid_argument` or, for a malformed result, `invalid_message`. A call that
 * needs an extension which the server does not announce rejects with `unsupported`, and nothing is sent.
 *
 * A call that is made while a lost connection is being replaced waits for the next one. When the connection is lost before
 * the answer, `startTurn`, `createThread` and `respondApproval` are sent again under their `clientRequestId`, if the
 * server has that extension; any other call rejects with `connection_closed`.
 */
export interface ThreadClient {
  /**
   * Opens a channel, introduces the client and checks the server's version. Resolves with what the server says of itself.
   * Rejects with `version_mismatch` (`VersionMismatchError`) when the major versions differ, with `transport_failed` when the
   * server cannot be reached, and with the errors of a call; the channel is closed then, and it can be called again.
   */
  connect(options?: ConnectOptions): Promise<Initialized>;
  readonly capabilities: ThreadCapabilities;
  /** `thread.create`: resolves with the new thread. */
  createThread(params?: CreateThreadParams, options?: RequestOptions): Promise<Thread>;
  /** `thread.list`: all threads, or a page of them; `nextCursor` where more follow. */
  listThreads(options?: ListThreadsOptions): Promise<ThreadPage>;
  /** All threads, page by page where the server has pages; `limit` is the length of a page, 100 by default. */
  allThreads(options?: Omit<ListThreadsOptions, "cursor">): AsyncIterable<Thread>;
  /** `thread.delete`. Rejects with `thread_not_found`, and `turn_busy` while a turn is active. */
  deleteThread(threadId: string, options?: RequestOptions): Promise<void>;
  /** `thread.rename`. The title is one line of 1 to 1000 characters. Rejects with `thread_not_found`, `invalid_params`, `unsupported`. */
  renameThread(threadId: string, title: string, options?: RequestOptions): Promise<Thread>;
  /**
   * `thread.archive`: the thread is left out of lists and takes no prompt until `unarchiveThread`. Rejects with `thread_not_found`,
   * `turn_busy` while a turn is active, `unsupported`.
   */
  archiveThread(threadId: string, options?: RequestOptions): Promise<Thread>;
  /** `thread.unarchive`. Rejects with `thread_not_found`, `unsupported`. */
  unarchiveThread(threadId: string, options?: RequestOptions): Promise<Thread>;
  /**
   * `thread.fork`: a new thread with the history of this one, up to and including an event. What was open there is closed in it; the source
   * is left alone. Rejects with `thread_not_found`, `invalid_params` for a `seq` beyond the end, `unsupported`.
   */
  forkThread(threadId: string, options?: ForkThreadOptions): Promise<Thread>;
  /**
   * `thread.search`: titles and messages that contain each of up to 16 words, in any case. Rejects with `invalid_params` for a query
   * without words or with too many, `thread_not_found`, `unsupported`.
   */
  searchThreads(query: string, options?: SearchThreadsOptions): Promise<SearchPage>;
  /** `queue.list`: the prompts that wait, in the order in which they begin. Rejects with `thread_not_found`, `unsupported`. */
  listQueue(threadId: string, options?: RequestOptions): Promise<readonly QueuedTurn[]>;
  /**
   * `thread.subscribe`: the events of one thread by number, also of turns that others start. Resolves when the server
   * has answered. Rejects with `thread_not_found`, and `invalid_argument` for an invalid `afterSeq`.
   */
  subscribe(threadId: string, options?: SubscribeOptions): Promise<ThreadSubscription>;
  /**
   * `thread.get`, page by page; `nextAfterSeq` where more events follow. Rejects with `thread_not_found`, and `invalid_params`
   * where one event alone exceeds the message limit (`data.reason` is `event_too_large`: `data.seq` is the `afterSeq` to go on
   * with), or the whole history of a server without pages does.
   */
  getThread(threadId: string, options?: GetThreadOptions): Promise<ThreadHistory>;
  /**
   * `turn.start`. Resolves when the server has named the turn; no event of it is lost between that and the first
   * read. Rejects with `thread_not_found`, `turn_busy`, `thread_archived`, and `invalid_params` for an unknown model, agent or input, `invalid_argument` for an unknown option.
   * After `request_timeout` the turn may be running: `getThread` tells.
   */
  startTurn(options: StartTurnOptions): Promise<TurnHandle>;
  /**
   * `thread.compact`: the agent makes a summary of all turns before, which it is given in their place from then on; the log keeps them. The turn's
   * `assistant_message` with `summary` is the summary, and says what it stands for; a turn without one had nothing to summarise. Rejects as `startTurn`, and with `unsupported`.
   */
  compactThread(options: CompactThreadOptions): Promise<TurnHandle>;
  /**
   * `turn.start` for a caller that follows the thread by `subscribe`: resolves with the turn's id alone, and with that of the first
   * turn where a `clientRequestId` is used again. Rejects as `startTurn`, and with `request_conflict` where the same name came with
   * another input. A `clientRequestId` of the caller needs that extension.
   */
  submitTurn(options: SubmitTurnOptions): Promise<string>;
  /**
   * `turn.cancel`: cancels the active turn of the thread, also one that another client started; with `turnId`, that one only, which may
   * wait in the queue. Rejects with `thread_not_found`, `turn_not_found`; with `turnId` also `unsupported`.
   */
  cancelTurn(threadId: string, options?: CancelTurnOptions): Promise<void>;
  /**
   * `approval.respond`, for approvals that no callback decides. Rejects with `approval_not_found`, whose `data.reason`
   * is `already_resolved` when another client was first. Nothing is checked here, unless a callback was being asked: compare `metadata.digest` with the
   * `digest` of `{ tool, input }` before saying yes.
   */
  respondApproval(
    requestId: string,
    decision: ApprovalDecision,
    options?: RespondApprovalOptions,
  ): Promise<void>;
  /** `grant.list`: resolves with the `always` answers in force. */
  listGrants(options?: ListGrantsOptions): Promise<readonly Grant[]>;
  /** `grant.revoke`: ends an `always` answer. Rejects with `approval_not_found`. */
  revokeGrant(grantId: string, options?: RequestOptions): Promise<void>;
  /**
   * Every event that this client hears of, from this call on. Those are the events of all threads; on a server with the
   * extension `subscribe`, from the first `subscribe` or `startTurn` on, those of the threads with a subscription or
   * a running turn of this client.
   */
  events(): EventStream;
  /**
   * `new` until `connect` succeeds (`connecting` while it retries), `ready`, `reconnecting` from a loss until everything
   * followed is followed again, and `closed`.
   */
  readonly state: SessionState;
  /** Tells each change of `state`, until the function that it returns is called. */
  onState(listener: (state: SessionState) => void): () => void;
  /** Settles when the connection is closed for good, with the reason; never rejects. */
  readonly closed: Promise<CloseReason>;
  /** Closes the connection: results that are pending reject with `connection_closed`; the turns go on. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
