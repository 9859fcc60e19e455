import type { ShellRequest } from "@harnesskit/protocol/openharness";
import type { Channel, Exchange } from "@harnesskit/wire";

/** What goes with each attempt of a request. */
export interface EngineCall {
  /** `x-request-id`, `x-correlation-id` and `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when nobody waits for the response any more. */
  readonly signal: AbortSignal;
  /** How long the response is waited for, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * One message out, one response back; it may reject. Where it rejects with a `HarnessError` whose `document` is an OpenHarness
 * response with an error, as an HTTP exchange does of a body beside an error status, that error counts.
 */
export type SendToEngine = (message: ShellRequest, call: EngineCall) => Promise<unknown>;

/**
 * The way to the engine: an exchange, as `createHttpExchange` of transport-http makes one, or an engine of the same process;
 * a function of one's own; or a channel that is open and not started, on which responses are told apart by their `request_id`.
 */
export type EngineEndpoint = Exchange<EngineCall> | Channel | SendToEngine;
