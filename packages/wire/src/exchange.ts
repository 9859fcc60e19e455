/**
 * One message in, one reply out or none: how a request/response transport (an HTTP POST, a `fetch` handler) meets a
 * core that needs no connection.
 */
export interface Exchange<Context = unknown> {
  /** Takes a parsed JSON value. Returns the reply, or undefined where the message wants none. Never rejects. */
  handle(message: unknown, context: Context): Promise<unknown>;
}
