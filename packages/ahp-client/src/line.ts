import type { HarnessError } from "@harnesskit/wire";
import type { SessionConnection } from "@harnesskit/wire/rpc";

export interface LineRequestOptions {
  /** Above 0. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An open way to the harness: a connection, or an exchange. Knows no method. */
export interface Line extends SessionConnection {
  /** Resolves with the result as it came. Rejects with a {@link HarnessError}. */
  request(method: string, params: unknown, options: LineRequestOptions): Promise<unknown>;
  /** Settles when the transport has it; over an exchange, when it was taken. */
  notify(method: string, params: unknown): Promise<void>;
  /** Notifications that may be unsettled at one time without losing their order. */
  readonly window: number;
  /** What came over it that answers no request: a call that got no answer was then not left alone. */
  readonly unexpected: UnexpectedCount;
  /** Releases what belongs to this line alone. */
  close(): void;
}

export interface UnexpectedCount {
  readonly count: number;
  /** What was wrong with the last of it. */
  readonly last: string | undefined;
}

/** Where lines come from. One is opened after the other, never two at a time. */
export interface LineSource {
  /** Opens a line. `onOver` is called once when it ends by itself, where that can be known. Rejects when no harness is there. */
  open(signal: AbortSignal, onOver: (error?: HarnessError) => void): Promise<Line>;
  /** Whether another line can follow the first. */
  readonly reopens: boolean;
  /** Closes what is open, and settles what is pending at once. Idempotent. */
  close(): Promise<void>;
}

/** Reports what belongs to no call and was dropped: an answer that came late or twice, or an invalid message. */
export type OnDropped = (error: HarnessError) => void;
