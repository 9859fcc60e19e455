import type { ShellResponse } from "@harnesskit/protocol/openharness";
import type { Channel, HarnessError } from "@harnesskit/wire";

/** The engine's side of OpenHarness v1, for any number of shells at once. All functions are bound. */
export interface ShellEngine<Context = unknown> {
  /**
   * Takes one parsed message and resolves with the response. A message that is not a request, and whatever else goes wrong,
   * is a response with status error. Never rejects. The response is shared with later requests of its id: it must not be changed, and
   * the message not before the response is there.
   */
  readonly handle: (message: unknown, context: Context) => Promise<ShellResponse>;
  /**
   * As `handle`, for a caller that also reads streams (`dev.harnesskit.stream`): resolves with the frames of a stream where the engine offers
   * `openharness.streaming` and the request agrees on it, else with the response. Takes cancellations of streams too, and resolves with
   * undefined. Never rejects.
   */
  readonly handleStream: (message: unknown, context: Context) => Promise<unknown>;
  /** The response to a body that is not JSON: `invalid_request`. */
  readonly malformed: (error: HarnessError) => ShellResponse;
  /** The response in place of one that cannot be sent: it is too large or too deep. `internal_error`. */
  readonly unsendable: (reply: unknown, error: HarnessError) => unknown;
  /**
   * Headers of the answer, for a server that supports them per route: `X-Correlation-ID` and `X-Request-ID` as the context's
   * `headers` show them. Undefined without headers.
   */
  readonly replyHeaders: (context: Context) => Readonly<Record<string, string>> | undefined;
  /**
   * Serves a shell on a channel that is open and not started. Its requests are handled at the same time, and each response goes
   * out when it is there; `channel.context` is the context. Throws `connection_closed` after `close`.
   */
  readonly connect: (channel: Channel<Context>) => void;
  /** Handlers that run, those included that took too long, and requests that are remembered by their ids. */
  readonly stats: () => { readonly inFlight: number; readonly rememberedRequests: number };
  /**
   * Aborts the signals of all handlers and answers their requests with `cancelled`; accepts nothing more. Settles when all
   * channels are closed. Idempotent.
   */
  readonly close: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}
