import type { ShellRequest } from "@harnesskit/protocol/openharness";
import {
  ConnectionClosedError,
  type Exchange,
  InvalidArgumentError,
  isMessageStream,
  type StreamExchange,
  type Transport,
} from "@harnesskit/wire";
import { ChannelEngine } from "./channel-engine.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";
import { FrameReader, isCallersChoice } from "./streaming/frame-reader.ts";
import type { StreamFact } from "./streaming/stream-events.ts";

/** What goes with each attempt of a request. */
export interface EngineCall {
  /** `x-request-id`, `x-correlation-id` and `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when no caller waits for the response any more. */
  readonly signal: AbortSignal;
  /** How long the response is waited for, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The way to the engine: an exchange, as `createHttpExchange` of transport-http makes one, or an engine of the same process; or a
 * transport, whose channel is opened by the first request and replaced after a loss. On a channel responses are matched by
 * their `request_id`. An exchange may reject; where its error is a `HarnessError` whose `document` is an OpenHarness response with an
 * error, as an HTTP exchange does of a body beside an error status, that error counts. A response can be a stream on channels, and
 * over an exchange that has `handleStream`.
 */
export type EngineEndpoint = Exchange<EngineCall> | Transport;

/** A request with its id. */
export type SendableRequest = ShellRequest & { readonly request_id: string };

/** An endpoint as requests use it. */
export interface Engine {
  /** Whether a response can be a stream. */
  readonly canStream: boolean;
  /** Sends a request, and resolves with what came back, as it came. `onFact` gets previews, where the response is a stream. */
  post(request: SendableRequest, call: EngineCall, onFact?: (fact: StreamFact) => void): Promise<unknown>;
  /** Closes what belongs to the shell alone. Idempotent. */
  close(): Promise<void>;
}

/** How long a cancellation may take, which a client that is closed waits for. */
const cancelTimeoutMs = 2_000;

/** An exchange stays its owner's to close. */
class ExchangeEngine implements Engine {
  readonly #exchange: Exchange<EngineCall>;
  readonly #streams: StreamExchange<EngineCall> | undefined;
  readonly #cancelling = new Set<Promise<unknown>>();

  constructor(exchange: Exchange<EngineCall> | StreamExchange<EngineCall>) {
    this.#exchange = exchange;
    this.#streams = "handleStream" in exchange ? exchange : undefined;
  }

  get canStream(): boolean {
    return this.#streams !== undefined;
  }

  async post(request: SendableRequest, call: EngineCall, onFact?: (fact: StreamFact) => void) {
    if (!onFact || !this.#streams) return this.#exchange.handle(request, call);
    const answer = await this.#streams.handleStream(request, call);
    if (!isMessageStream(answer)) return answer;
    const reader = new FrameReader(request, onFact);
    const onAbort = () => this.#cancel(reader, call);
    call.signal.addEventListener("abort", onAbort, { once: true });
    try {
      for await (const message of answer) {
        reader.accept(message);
        if (reader.end) return reader.end.response;
      }
    } finally {
      call.signal.removeEventListener("abort", onAbort);
    }
    throw new ConnectionClosedError("the stream broke off before the response");
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#cancelling);
  }

  #cancel({ cancelMessage }: FrameReader, { headers, signal }: EngineCall): void {
    if (!cancelMessage || !this.#streams || !isCallersChoice(signal.reason)) return;
    const call = { headers, signal: AbortSignal.timeout(cancelTimeoutMs), timeoutMs: cancelTimeoutMs };
    const sent = this.#streams
      .handleStream(cancelMessage, call)
      .catch(() => {})
      .finally(() => this.#cancelling.delete(sent));
    this.#cancelling.add(sent);
  }
}

/** Throws `invalid_argument` for anything else than an endpoint. */
export const toEngine = (
  endpoint: EngineEndpoint,
  diagnose: (diagnostic: ShellDiagnostic) => void,
): Engine => {
  if (typeof endpoint === "object" && endpoint !== null) {
    // An engine of this process is an exchange, and also accepts channels.
    if ("handle" in endpoint) return new ExchangeEngine(endpoint);
    if ("connect" in endpoint) return new ChannelEngine(endpoint, diagnose);
  }
  throw new InvalidArgumentError("engine must be an exchange or a transport");
};
