import type { HarnessError } from "@harnesskit/wire";

export interface LineRequestOptions {
  /** Above 0. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A way to the harness that is open: a connection, or an exchange. Knows no method. */
export interface Line {
  /** Resolves with the result as it came. Rejects with a {@link HarnessError}. */
  request(method: string, params: unknown, options: LineRequestOptions): Promise<unknown>;
  /** Settles when the transport has it; over an exchange, when it was taken. */
  notify(method: string, params: unknown): Promise<void>;
  /** Notifications that may be unsettled at one time without losing their order. */
  readonly window: number;
  /** How much came over it that was no answer to any request, so that what then is not answered was not left alone. */
  readonly nonsense: number;
  /** What was wrong with the last of that. */
  readonly lastNonsense: string | undefined;
  /** It is of no use any more: what belongs to it alone is put away. */
  discard(): void;
}

/** Where lines come from. One is opened after the other, never two at a time. */
export interface LineSource {
  /**
   * Opens a line. `onOver` is called once when it is over; where nobody can know, it is not called. Rejects when there
   * is nobody at the other end.
   */
  open(signal: AbortSignal, onOver: (error: HarnessError | undefined) => void): Promise<Line>;
  /** Whether another line can follow the first. */
  readonly reopens: boolean;
  /** Closes what is open, and settles what is pending at once. Idempotent. */
  close(): Promise<void>;
}

/** Told of what belongs to no call: an answer that came late or twice, what is no message. It was dropped. */
export type OnDropped = (error: HarnessError) => void;
