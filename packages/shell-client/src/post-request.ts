import { backoffDelayMs, type Clock, HarnessError, RequestTimeoutError, wait } from "@harnesskit/wire";
import { settleWithin, startDeadline } from "@harnesskit/wire/time";
import type { ClientParts } from "./client-parts.ts";
import type { SendableRequest } from "./engine.ts";
import { type ReadResponse, readResponse } from "./read-response.ts";
import { givenUp, retryAfterMsOf, ShellClientError, toClientError } from "./shell-client-error.ts";
import type { StreamFact } from "./streaming/stream-events.ts";
import type { Trace } from "./trace.ts";

export interface Posted extends ReadResponse {
  /** When it came, by `elapsedMs` of the clock. */
  readonly receivedMs: number;
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
  { limits, clock }: ClientParts,
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

const attemptOf = async (
  request: SendableRequest,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
  parts: ClientParts,
): Promise<Attempt> => {
  const { engine, timeoutMs, limits, clock, diagnose, onStream } = parts;
  const { request_id: requestId } = request;
  const name = "the request";
  const late = new AbortController();
  let cancelTimer = () => {};
  /** The time begins anew with each preview. */
  const startTimer = (): void => {
    cancelTimer();
    const expired = () => late.abort(new RequestTimeoutError(name, timeoutMs));
    cancelTimer = startDeadline(timeoutMs, expired, { clock, holdsProcess: true });
  };
  let isOver = false;
  let isOpen = false;
  const onFact = (fact: StreamFact): void => {
    if (isOver) return;
    startTimer();
    isOpen = true;
    onStream?.({ ...fact, requestId });
  };
  startTimer();
  const ended = await settleWithin(
    (stop: AbortSignal) =>
      engine.post(
        request,
        { headers, signal: stop, timeoutMs },
        onStream && engine.canStream ? onFact : undefined,
      ),
    {
      clock,
      name,
      signal: [signal, late.signal],
      onLate: () => diagnose({ code: "late_response", message: "a response came too late", requestId }),
    },
  );
  cancelTimer();
  if (isOpen) onStream?.({ type: "ended", requestId });
  isOver = true;
  if (ended.status === "timed_out" || ended.status === "cancelled") {
    if (!late.signal.aborted || signal.aborted) return failedAttempt(givenUp(signal));
    const message = `the engine did not answer within ${timeoutMs} ms`;
    return failedAttempt(new ShellClientError("response_timeout", message, { retryable: true }));
  }
  if (ended.status === "failed") {
    return refusalIn(ended.error, requestId, parts) ?? failedAttempt(toClientError(ended.error, request));
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
  signal: AbortSignal,
  parts: ClientParts,
): Promise<Posted> => {
  const { backoff, clock, diagnose } = parts;
  const requestId = request.request_id;
  const headers = trace.headersOf(requestId);
  for (let attempt = 1; ; attempt++) {
    const { posted, failure, code = "", ...retry } = await attemptOf(request, headers, signal, parts);
    const delayMs = Math.max(backoffDelayMs(attempt, backoff), retry.retryAfterMs);
    const isLast = attempt >= backoff.maxAttempts || delayMs > backoff.maxDelayMs;
    if (!retry.isRetryable || isLast) {
      if (posted) return posted;
      throw failure;
    }
    const details = { attempt, delay_ms: delayMs, code };
    diagnose({ code: "retry", message: "the request is sent once more", requestId, details });
    await wait(delayMs, clock, signal);
    if (signal.aborted) throw givenUp(signal);
  }
};
