import type { ShellRequest, ShellResponse } from "@harnesskit/protocol/openharness";
import { type Backoff, backoffDelayMs, type Clock, HarnessError, wait } from "@harnesskit/wire";
import type { CallScope } from "./call-scope.ts";
import type { EngineLine } from "./engine-line.ts";
import type { ResolvedLimits } from "./limits.ts";
import { readResponse } from "./read-response.ts";
import { givenUp, ShellClientError } from "./shell-client-error.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";
import { retryAfterMsOf, toClientError } from "./to-client-error.ts";
import type { Trace } from "./trace.ts";
import { within } from "./within.ts";

/** A request with its id. */
export type SendableRequest = ShellRequest & { readonly request_id: string };

export interface Posted {
  readonly response: ShellResponse;
  /** When it came, in milliseconds since the epoch. */
  readonly receivedAtMs: number;
  /** How long the server asked to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
}

export interface PosterOptions {
  readonly line: EngineLine;
  readonly backoff: Backoff;
  readonly timeoutMs: number;
  readonly limits: ResolvedLimits;
  readonly clock: Clock;
  readonly diagnose: (diagnostic: ShellDiagnostic) => void;
}

interface Failed {
  readonly failure: ShellClientError;
}

/** Sends requests: each until there is a response to it that is worth having, or no hope of one. */
export class Poster {
  readonly #options: PosterOptions;

  constructor(options: PosterOptions) {
    this.#options = options;
  }

  /** Rejects with a `ShellClientError`. A response with an error that is not retryable, or not any more, is a response. */
  async post(request: SendableRequest, trace: Trace, scope: CallScope): Promise<Posted> {
    const { backoff, clock, diagnose } = this.#options;
    const headers = trace.headersOf(request.request_id);
    for (let attempt = 1; ; attempt++) {
      const got = await this.#attempt(request, headers, scope);
      const isRetryable =
        "failure" in got ? got.failure.retryable : got.response.response.error?.retryable === true;
      const askedMs = "failure" in got ? retryAfterMsOf(got.failure.cause) : (got.retryAfterMs ?? 0);
      const delayMs = Math.max(backoffDelayMs(attempt, backoff), askedMs);
      const isLast = attempt >= backoff.maxAttempts || delayMs > backoff.maxDelayMs;
      const isError = "failure" in got || got.response.response.status === "error";
      if (!isError || !isRetryable || isLast) {
        if ("failure" in got) throw got.failure;
        return got;
      }
      const code = "failure" in got ? got.failure.code : "engine_error";
      diagnose({
        code: "retry",
        message: "the request is sent once more",
        requestId: request.request_id,
        details: { attempt, delay_ms: delayMs, code },
      });
      await wait(delayMs, clock, scope.signal);
      if (scope.aborted) throw givenUp(scope);
    }
  }

  async #attempt(
    request: SendableRequest,
    headers: Readonly<Record<string, string>>,
    scope: CallScope,
  ): Promise<Posted | Failed> {
    const { line, timeoutMs, limits, clock, diagnose } = this.#options;
    const requestId = request.request_id;
    const ended = await within(
      (stop) => line.post(requestId, request, { headers, signal: stop, timeoutMs }),
      {
        clock,
        dueAtMs: clock.now() + timeoutMs,
        scope,
        onLate: () => diagnose({ code: "late_response", message: "a response came too late", requestId }),
      },
    );
    switch (ended.how) {
      case "aborted":
        return { failure: givenUp(scope) };
      case "due": {
        const text = `the engine did not answer within ${timeoutMs} ms`;
        return { failure: new ShellClientError("response_timeout", text, { retryable: true }) };
      }
      case "threw":
        return this.#refusalIn(ended.cause, requestId) ?? { failure: toClientError(ended.cause, request) };
    }
    const receivedAtMs = clock.now();
    try {
      return { response: readResponse(ended.value, requestId, limits), receivedAtMs };
    } catch (cause) {
      return { failure: toClientError(cause, request) };
    }
  }

  /** The engine's own error, where the transport failed with a document that is one: it says more than any status. */
  #refusalIn(cause: unknown, requestId: string): Posted | undefined {
    const { limits, clock } = this.#options;
    if (!HarnessError.isInstance(cause) || !("document" in cause) || cause.document === undefined)
      return undefined;
    try {
      const response = readResponse(cause.document, requestId, limits);
      if (response.response.status !== "error" || response.response.error === undefined) return undefined;
      return { response, receivedAtMs: clock.now(), retryAfterMs: retryAfterMsOf(cause) };
    } catch {
      // The document of somebody else, as a proxy's: the status counts.
      return undefined;
    }
  }
}
