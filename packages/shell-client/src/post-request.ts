import type { ShellRequest } from "@harnesskit/protocol/openharness";
import { type Backoff, backoffDelayMs, type Clock, HarnessError, wait } from "@harnesskit/wire";
import type { CallScope } from "./call-scope.ts";
import type { EngineLine } from "./engine-line.ts";
import type { ShellClientLimits } from "./limits.ts";
import { type ReadResponse, readResponse } from "./read-response.ts";
import { givenUp, retryAfterMsOf, ShellClientError, toClientError } from "./shell-client-error.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";
import type { StreamCall } from "./streaming/stream-call.ts";
import type { ShellStreamEvent } from "./streaming/stream-events.ts";
import { whileActive } from "./streaming/while-active.ts";
import type { Trace } from "./trace.ts";

/** A request with its id. */
export type SendableRequest = ShellRequest & { readonly request_id: string };

export interface Posted extends ReadResponse {
  /** When it came, by `elapsedMs` of the clock. */
  readonly receivedMs: number;
}

export interface PostOptions {
  readonly line: EngineLine;
  readonly backoff: Backoff;
  readonly timeoutMs: number;
  readonly limits: ShellClientLimits;
  readonly clock: Clock;
  readonly diagnose: (diagnostic: ShellDiagnostic) => void;
  /** Set where responses may be streams: receives what is known before they are there. Must not throw. */
  readonly onStream?: ((event: ShellStreamEvent) => void) | undefined;
}

/** What came of one attempt: a response or a failure. */
interface Attempt {
  readonly posted?: Posted;
  readonly failure?: ShellClientError;
  /** Of the error, where there is one. */
  readonly code?: string | undefined;
  readonly isRetryable: boolean;
  /** How long the server asked the client to wait, in milliseconds. */
  readonly retryAfterMs: number;
}

const failedAttempt = (failure: ShellClientError): Attempt => ({
  failure,
  code: failure.code,
  isRetryable: failure.retryable,
  retryAfterMs: retryAfterMsOf(failure.cause),
});

const answered = (read: ReadResponse, clock: Clock, retryAfterMs = 0): Attempt => {
  const { status, error } = read.response.response;
  return {
    posted: { ...read, receivedMs: clock.elapsedMs() },
    code: status === "error" ? "engine_error" : undefined,
    isRetryable: status === "error" && error?.retryable === true,
    retryAfterMs,
  };
};

/** The engine's own error, where the transport failed with a document that is one: it says more than any status. */
const refusalIn = (
  cause: unknown,
  requestId: string,
  { limits, clock }: PostOptions,
): Attempt | undefined => {
  if (!HarnessError.isInstance(cause) || !("document" in cause) || cause.document === undefined)
    return undefined;
  try {
    const read = readResponse(cause.document, requestId, limits);
    const { status, error } = read.response.response;
    if (status !== "error" || error === undefined) return undefined;
    return answered(read, clock, retryAfterMsOf(cause));
  } catch {
    // The document of another server, such as a proxy: the status counts.
    return undefined;
  }
};

/** How the response of one attempt is read as a stream. Undefined where it is not. */
const streamingOf = ({ request_id: requestId }: SendableRequest, options: PostOptions) => {
  const { onStream, backoff, clock, line } = options;
  if (!onStream || !line.canStream) return undefined;
  let state: "waiting" | "open" | "over" = "waiting";
  const callWith = (touch: () => void): StreamCall => ({
    backoff,
    clock,
    onFact(fact) {
      touch();
      if (state === "over") return;
      if (fact.type === "opened") state = "open";
      if (state === "open") onStream({ ...fact, requestId });
    },
  });
  const end = (): void => {
    if (state === "open") onStream({ type: "ended", requestId });
    state = "over";
  };
  return { callWith, end };
};

const attemptOf = async (
  request: SendableRequest,
  headers: Readonly<Record<string, string>>,
  scope: CallScope,
  options: PostOptions,
): Promise<Attempt> => {
  const { line, timeoutMs, limits, clock, diagnose } = options;
  const requestId = request.request_id;
  const name = "the request";
  const onLate = () => diagnose({ code: "late_response", message: "a response came too late", requestId });
  const streaming = streamingOf(request, options);
  const ended = streaming
    ? await scope.settle(
        whileActive(
          (signal, touch) =>
            line.post(requestId, request, { headers, signal, timeoutMs }, streaming.callWith(touch)),
          { name, timeoutMs, clock },
        ),
        { clock, name, onLate },
      )
    : await scope.settle((signal) => line.post(requestId, request, { headers, signal, timeoutMs }), {
        clock,
        name,
        timeoutMs,
        onLate,
      });
  streaming?.end();
  switch (ended.status) {
    case "cancelled":
      return failedAttempt(givenUp(scope));
    case "timed_out": {
      const message = `the engine did not answer within ${timeoutMs} ms`;
      return failedAttempt(new ShellClientError("response_timeout", message, { retryable: true }));
    }
    case "failed":
      return refusalIn(ended.error, requestId, options) ?? failedAttempt(toClientError(ended.error, request));
  }
  try {
    return answered(readResponse(ended.value, requestId, limits), clock);
  } catch (cause) {
    return failedAttempt(toClientError(cause, request));
  }
};

/**
 * Sends a request, and again while a failure is retryable and attempts are left. Rejects with a `ShellClientError`. A response
 * with an error that is not retried is a response.
 */
export const postRequest = async (
  request: SendableRequest,
  trace: Trace,
  scope: CallScope,
  options: PostOptions,
): Promise<Posted> => {
  const { backoff, clock, diagnose } = options;
  const requestId = request.request_id;
  const headers = trace.headersOf(requestId);
  for (let attempt = 1; ; attempt++) {
    const { posted, failure, code = "", ...retry } = await attemptOf(request, headers, scope, options);
    const delayMs = Math.max(backoffDelayMs(attempt, backoff), retry.retryAfterMs);
    const isLast = attempt >= backoff.maxAttempts || delayMs > backoff.maxDelayMs;
    if (!retry.isRetryable || isLast) {
      if (posted) return posted;
      throw failure;
    }
    const details = { attempt, delay_ms: delayMs, code };
    diagnose({ code: "retry", message: "the request is sent once more", requestId, details });
    await wait(delayMs, clock, scope.signal);
    if (scope.aborted) throw givenUp(scope);
  }
};
