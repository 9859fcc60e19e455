import type { HarnessError } from "./errors.ts";

/** Why a channel closed. Without an error it was closed in good order, by either side. */
export interface CloseReason {
  readonly error?: HarnessError;
}

/** What a channel reports. Handlers may throw: the channel reports that to `error` and goes on. */
export interface ChannelHandlers {
  /**
   * One JSON value arrived. A returned promise holds back what follows until it settles: this is how a reader
   * slows the writer down.
   */
  message(message: unknown): void | Promise<void>;
  /** Something arrived that is not a message (`invalid_message`, `frame_too_large`), or a handler threw. The channel goes on. */
  error(error: HarnessError): void;
  /**
   * The other side will send no more, but still reads. Without this handler the channel closes itself then.
   * A transport that cannot half-close never calls it.
   */
  end?: (() => void) | undefined;
  /** The channel is closed. Called once and last. */
  close(reason: CloseReason): void;
}

/**
 * Ordered JSON messages both ways. `Context` is what the transport knows about the other side.
 */
export interface Channel<Context = unknown> {
  /** Begins delivery. To be called once: a second call throws `invalid_argument`. */
  start(handlers: ChannelHandlers): void;
  /**
   * Sends one JSON value. Settles when it was handed to the operating system. Rejects with `connection_closed`,
   * `frame_too_large`, `buffer_full`, `invalid_argument` (not JSON) or `transport_failed`; of a refused message nothing is sent.
   */
  send(message: unknown): Promise<void>;
  /** Sends what is queued, then closes. Idempotent; settles when closed. With an error, that is the reason. */
  close(error?: HarnessError): Promise<void>;
  /** Settles when the channel is closed; never rejects. */
  readonly closed: Promise<CloseReason>;
  /** Aborts when the channel is closed. */
  readonly signal: AbortSignal;
  readonly context: Context;
  /** What to check as long as the other side has sent no message, such as the framing. */
  readonly hint?: string | undefined;
}

/** A client's way to a channel. */
export interface Transport<Context = unknown> {
  /** Opens a new channel. Rejects with `transport_failed` when the other side cannot be reached. */
  connect(options?: { signal?: AbortSignal }): Promise<Channel<Context>>;
}

/** A server's way to many channels. */
export interface Listener<Context = unknown> {
  /** Begins to accept. Each channel is handed over before it is started. */
  listen(accept: (channel: Channel<Context>) => void): Promise<void>;
  /** Accepts no more and closes what is open. Idempotent. */
  close(): Promise<void>;
}
