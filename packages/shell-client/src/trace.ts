import { isTraceparent, type TraceContext } from "@harnesskit/wire/trace";
import { ShellClientError } from "./shell-client-error.ts";

/** What may stand in a header of ours; any other id travels in the body alone. */
const idPattern = /^[\x21-\x7e]{1,512}$/;

const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/** The trace of one call: all its requests belong to it, each with a span of its own, or all to the span of the call. */
export class Trace {
  readonly correlationId: string;
  /** The span of the call. */
  readonly context: TraceContext | undefined;
  readonly #traceId: string;
  readonly #flags: string;

  /** Throws `invalid_request` for a traceparent that is not valid W3C Trace Context. */
  constructor(correlationId: string, traceparent: string | undefined, context?: TraceContext) {
    if (traceparent !== undefined && !isTraceparent(traceparent)) {
      throw new ShellClientError("invalid_request", "the traceparent is not valid W3C Trace Context", {
        reason: "schema",
        path: "traceparent",
      });
    }
    this.correlationId = correlationId;
    this.context = context;
    const [, traceId, , flags] = traceparent?.split("-") ?? [];
    this.#traceId = traceId ?? randomHex(16);
    this.#flags = flags ?? "01";
  }

  /** The headers of a request; the same for each of its attempts. */
  headersOf(requestId: string): Readonly<Record<string, string>> {
    const own = { traceparent: `00-${this.#traceId}-${randomHex(8)}-${this.#flags}` };
    const headers: Record<string, string> = { ...(this.context ?? own) };
    if (idPattern.test(requestId)) headers["x-request-id"] = requestId;
    if (idPattern.test(this.correlationId)) headers["x-correlation-id"] = this.correlationId;
    return headers;
  }
}
