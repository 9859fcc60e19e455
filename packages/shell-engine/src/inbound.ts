import type { ShellContext, ShellRequest } from "@harnesskit/protocol/openharness";
import type { Admitted } from "./admission.ts";
import type { Negotiated } from "./capability-offer.ts";
import type { HttpTrace } from "./http-trace.ts";
import type { ReadRequest } from "./read-request.ts";
import type { Redact } from "./redaction.ts";
import type { ResponseStream } from "./streaming/response-stream.ts";

/** What is known of a message, as far as it was read. */
export interface Subject {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly trace: HttpTrace;
  /** By `elapsedMs` of the clock. */
  readonly startedAt: number;
  request: ShellRequest | undefined;
  sessionId: string | undefined;
  runId: string | undefined;
  redact: Redact;
  negotiated: Negotiated;
}

/** A request that was read and admitted. */
export interface Inbound<Context> extends ReadRequest, Admitted {
  /** `request.context`. */
  readonly asked: ShellContext;
  readonly context: Context;
  readonly subject: Subject;
  /** Set where the response can be a stream: called at once when it is one. */
  readonly onStream: ((stream: ResponseStream) => void) | undefined;
}
