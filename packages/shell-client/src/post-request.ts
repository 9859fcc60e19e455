import { backoffDelayMs, HarnessError, RequestTimeoutError, wait } from "@harnesskit/wire";
import { settleWithin, startDeadline } from "@harnesskit/wire/time";
import type { ClientParts } from "./client-parts.ts";
import type { SendableRequest } from "./engine.ts";
import { type ReadResponse, readResponse } from "./read-response.ts";
import { givenUp, retryAfterMsOf, ShellClientError, toClientError } from "./shell-client-error.ts";
import type { StreamFact } from "./streaming/stream-events.ts";

export interface Posted extends ReadResponse {
  /** When it came, by `elapsedMs` of the clock. */
  readonly receivedMs: number;
  /** How long the server asked the client to wait, in milliseconds. */
  readonly retryAfterMs: number;
}

type Headers = Readonly<Record<string, string>>;

/** The engine's own error, where the transport failed with a document that is one: it says more than any status. */
const refusalIn = (cause: unknown, request: SendableRequest, { limits, clock }: ClientParts) => {
  if (!HarnessError.isInstance(cause) || !("document" in cause) || cause.document === undefined)
    return undefined;
  try {
    const read = readResponse(cause.document, request.request_id, limits);
    const { status, error } = read.response.response;
    if (status !== "error" || error === undefined) return undefined;
    return { ...read, receivedMs: clock.elapsedMs(), retryAfterMs: retryAfterMsOf(cause) };
  } catch {
    // The document of another server, such as a proxy: the status counts.
    return undefined;
  }
};

/** Rejects with a `ShellClientError`. */
const attemptOf = async (
  request: SendableRequest,
  headers: Headers,
  signal: AbortSignal,
  parts: ClientParts,
): Promise<Posted> => {
  const { engine, timeoutMs, limits, clock, diagnose, onStream } = parts;
  const { request_id: requestId } = request;
  const late = new AbortController();
  let cancelTimer = () => {};
  /** The time begins anew with each preview. */
  const startTimer = (): void => {
    cancelTimer();
    const expired = () => late.abort(new RequestTimeoutError("the request", timeoutMs));
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
  const post = (stop: AbortSignal) =>
    engine.post(request, { headers, signal: stop, timeoutMs }, onStream && onFact);
  const ended = await settleWithin(post, {
    clock,
    name: "the request",
    signal: [signal, late.signal],
    onLate: () => diagnose({ code: "late_response", message: "a response came too late", requestId }),
  });
  cancelTimer();
  if (isOpen) onStream?.({ type: "ended", requestId });
  isOver = true;
  if (ended.status === "done") {
    return {
      ...readResponse(ended.value, requestId, limits),
      receivedMs: clock.elapsedMs(),
      retryAfterMs: 0,
    };
  }
  if (ended.status === "failed") {
    const refusal = refusalIn(ended.error, request, parts);
    if (refusal) return refusal;
    throw toClientError(ended.error, request);
  }
  if (signal.aborted) throw givenUp(signal);
  const message = `the engine did not answer within ${timeoutMs} ms`;
  throw new ShellClientError("response_timeout", message, { retryable: true });
};

/**
 * Sends a request, and again while a failure is retryable and attempts are left. Rejects with a `ShellClientError`. A response
 * with an error that is not retried is a response.
 */
export const postRequest = async (
  request: SendableRequest,
  headers: Headers,
  signal: AbortSignal,
  parts: ClientParts,
): Promise<Posted> => {
  const { backoff, clock, diagnose } = parts;
  const requestId = request.request_id;
  for (let attempt = 1; ; attempt++) {
    const posted = await attemptOf(request, headers, signal, parts).catch((error: unknown) =>
      toClientError(error, request),
    );
    const isFailure = ShellClientError.isInstance(posted);
    const { status, error: own } = isFailure ? { status: "error", error: posted } : posted.response.response;
    const error = status === "error" ? own : undefined;
    const retryAfterMs = isFailure ? retryAfterMsOf(posted.cause) : posted.retryAfterMs;
    const delayMs = Math.max(backoffDelayMs(attempt, backoff), retryAfterMs);
    const isLast = attempt >= backoff.maxAttempts || delayMs > backoff.maxDelayMs;
    if (error?.retryable !== true || isLast) {
      if (isFailure) throw posted;
      return posted;
    }
    const details = { attempt, delay_ms: delayMs, code: isFailure ? posted.code : "engine_error" };
    diagnose({ code: "retry", message: "the request is sent once more", requestId, details });
    await wait(delayMs, clock, signal);
    if (signal.aborted) throw givenUp(signal);
  }
};
