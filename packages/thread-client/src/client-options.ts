import type {
  ApprovalDecision,
  EventBody,
  InputPart,
  ModelRef,
  Thread,
  ThreadCapabilities,
} from "@harnesskit/protocol/threads";
import type { Clock, CloseReason, HarnessError, RequestOptions, Transport } from "@harnesskit/wire";
import type { ApprovalHandler } from "./approval-desk.ts";
import type { ClientLimits } from "./limits.ts";
import type { TurnHandle } from "./turn-handle.ts";
import type { ThreadHistory } from "./validation.ts";

export interface ThreadClientOptions extends Partial<ClientLimits> {
  /** The way to the server. One channel is opened. */
  readonly transport: Transport;
  /** What the server is told about this client. @default nothing */
  readonly clientInfo?: { readonly name: string; readonly version?: string };
  /** Gives up connecting. @default never */
  readonly signal?: AbortSignal;
  /** How long a call waits for its answer; Infinity for ever. The length of a turn does not count. @default 60000 */
  readonly requestTimeoutMs?: number;
  /**
   * Decides on every approval of the connection, unless its turn has a callback of its own: also on those of turns
   * that other clients started. @default approvals are left to `respondApproval`
   */
  readonly onApproval?: ApprovalHandler;
  /**
   * Told what has no caller: a malformed message, an approval that was rejected here and why, events lost to a limit.
   * For a log. What it throws is ignored. @default nobody is told
   */
  readonly onError?: (error: HarnessError) => void;
  /** @default the real time */
  readonly clock?: Clock;
}

export interface CreateThreadParams {
  /** @default the server's choice */
  readonly title?: string;
  /** Must lie inside the server's working directory. @default that directory */
  readonly directory?: string;
}

export interface GetThreadOptions extends RequestOptions {
  /** Only events with a greater number. @default 0 */
  readonly afterSeq?: number;
  /** At most so many events. @default all; the server refuses what does not fit in a message */
  readonly limit?: number;
}

export interface StartTurnOptions {
  readonly threadId: string;
  /** What the agent is asked; a string is one text part. */
  readonly input: string | readonly InputPart[];
  /** @default the server's choice */
  readonly model?: ModelRef;
  /** The agent's name. @default the server's choice */
  readonly agent?: string;
  /**
   * Cancels the turn. Aborted before the answer is here, `startTurn` rejects with `request_cancelled` at once, and the
   * turn is cancelled as soon as its id is known. After that nobody is asked for its approvals. @default never
   */
  readonly signal?: AbortSignal;
  /** Decides on the approvals of this turn. @default the client's `onApproval` */
  readonly onApproval?: ApprovalHandler;
  /** How long to wait for the answer that the turn was started. @default the client's `requestTimeoutMs` */
  readonly timeoutMs?: number;
}

/** The events of the connection from the call of `events()` on. Leaving the loop, or `close`, ends it. */
export interface EventStream extends AsyncIterable<EventBody> {
  /** Deltas that were lost because nobody read (`maxBufferedEvents`). */
  readonly droppedDeltas: number;
  /** Other events that were lost in the same way. */
  readonly droppedItems: number;
  /** Ends the stream. Idempotent. */
  close(): void;
}

/** What arrived and was not used. */
export interface ThreadClientStats {
  /** Notifications that this version does not know. */
  readonly unknownNotifications: number;
  /** Notifications that do not fit their schema. */
  readonly malformedNotifications: number;
}

/**
 * A connection to a server of the thread protocol. Every call rejects with a `ThreadError` or another `ProtocolError`
 * that the server answered, or with `request_timeout`, `request_cancelled`, `connection_closed`, `buffer_full`,
 * `frame_too_large`, `transport_failed`, `invalid_argument` or, for a malformed result, `invalid_message`.
 */
export interface ThreadClient {
  /** The version that the server answered `initialize` with. */
  readonly serverVersion: string;
  readonly capabilities: ThreadCapabilities;
  /** `thread.create`. */
  createThread(params?: CreateThreadParams, options?: RequestOptions): Promise<Thread>;
  /** `thread.list`. */
  listThreads(options?: RequestOptions): Promise<Thread[]>;
  /** `thread.get`. Rejects with `thread_not_found`; over the server's message limit with an error that names `limit`. */
  getThread(threadId: string, options?: GetThreadOptions): Promise<ThreadHistory>;
  /**
   * `turn.start`. Resolves when the server has named the turn; no event of it is lost between that and the first
   * read. Rejects with `thread_not_found`, `turn_busy`, and `invalid_params` for an unknown model, agent or input.
   * After `request_timeout` the turn may be running: `getThread` tells.
   */
  startTurn(options: StartTurnOptions): Promise<TurnHandle>;
  /**
   * `turn.cancel`: cancels whatever turn is active on the thread, whoever started it. Rejects with `thread_not_found`,
   * `turn_not_found`.
   */
  cancelTurn(threadId: string, options?: RequestOptions): Promise<void>;
  /**
   * `approval.respond`, for approvals that no callback decides. Rejects with `approval_not_found`, whose `data.reason`
   * is `already_resolved` when somebody else was first. Nothing is checked here: compare `metadata.digest` with the
   * `digest` of `{ tool, input }` before saying yes.
   */
  respondApproval(requestId: string, decision: ApprovalDecision, options?: RequestOptions): Promise<void>;
  /** Every event that arrives on the connection, of all threads, from this call on. */
  events(): EventStream;
  readonly stats: ThreadClientStats;
  /** Settles when the connection is closed, with the reason; never rejects. */
  readonly closed: Promise<CloseReason>;
  /** Closes the connection: results that are pending reject with `connection_closed`; the turns go on. Idempotent. */
  close(): Promise<void>;
}
