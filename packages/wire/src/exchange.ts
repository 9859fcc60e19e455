import { HarnessError } from "./errors.ts";

/**
 * One message in, one reply out or none: how a request/response transport (an HTTP POST, a `fetch` handler) meets a
 * core that needs no connection.
 */
export interface Exchange<Context = unknown> {
  /** Takes a parsed JSON value. Returns the reply, or undefined where the message wants none. Never rejects. */
  handle(message: unknown, context: Context): Promise<unknown>;
}

/** The answers to one message, in order. Whoever ends the iteration early reads no more. */
export type MessageStream = AsyncIterable<unknown>;

/** An exchange that can answer one message with several. */
export interface StreamExchange<Context = unknown> extends Exchange<Context> {
  /** As `handle`, for a caller that also reads a stream: resolves with a {@link MessageStream}, with a reply, or with undefined. */
  handleStream(message: unknown, context: Context): Promise<unknown>;
}

/** Tells a stream from a reply: nothing that JSON can hold is iterable in that way. */
export const isMessageStream = (answer: unknown): answer is MessageStream =>
  typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;

/** Whether `frame_too_large` of an exchange is about the reply to this message: the size of the message tells. */
export const isReplyTooLarge = (error: unknown, message: unknown): error is HarnessError => {
  if (!HarnessError.isInstance(error) || error.code !== "frame_too_large") return false;
  const limit = "maxFrameBytes" in error ? Number(error.maxFrameBytes) : 0;
  return new TextEncoder().encode(JSON.stringify(message)).length <= limit;
};
