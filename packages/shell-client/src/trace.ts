import { ShellClientError } from "./shell-client-error.ts";

const traceparentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What may stand in a header of ours; any other id travels in the body alone. */
const idPattern = /^[\x21-\x7e]{1,512}$/;

const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

/** The trace of one call: all its requests belong to it, each with a span of its own. */
export class Trace {
  readonly correlationId: string;
  readonly #traceId: string;
  readonly #flags: string;

  /** Throws `invalid_request` for a traceparent that is not valid W3C Trace Context. */
  constructor(correlationId: string, traceparent: string | undefined) {
    if (traceparent !== undefined && !traceparentPattern.test(traceparent)) {
      throw new ShellClientError("invalid_request", "the traceparent is not valid W3C Trace Context", {
        reason: "schema",
        path: "traceparent",
      });
    }
    this.correlationId = correlationId;
    const [, traceId, , flags] = traceparent?.split("-") ?? [];
    this.#traceId = traceId ?? randomHex(16);
    this.#flags = flags ?? "01";
  }

  /** The headers of a request; the same for each of its attempts. */
  headersOf(requestId: string): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {
      traceparent: `00-${this.#traceId}-${randomHex(8)}-${this.#flags}`,
    };
    if (idPattern.test(requestId)) headers["x-request-id"] = requestId;
    if (idPattern.test(this.correlationId)) headers["x-correlation-id"] = this.correlationId;
    return headers;
  }
}
