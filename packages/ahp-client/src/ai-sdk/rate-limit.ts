import type { RateLimitDecision } from "@harnesskit/protocol/ahp";
import type { Supervision } from "../supervise/supervision.ts";
import { SupervisionError, undecided } from "../supervise/supervision-error.ts";

type Headers = Readonly<Record<string, string>>;

/** Whether a provider said that there were too many requests (HTTP 429). */
export const isRateLimit = (error: unknown): error is Error =>
  error instanceof Error && (error as { statusCode?: unknown }).statusCode === 429;

const headersOf = (error: Error): Headers => {
  const { responseHeaders } = error as { responseHeaders?: unknown };
  return typeof responseHeaders === "object" && responseHeaders !== null ? (responseHeaders as Headers) : {};
};

/** What the provider says to wait: `retry-after-ms`, else `retry-after` in seconds or as a date. */
const demandedMs = (headers: Headers, now: number): number | undefined => {
  const { "retry-after-ms": ms = "", "retry-after": after = "" } = headers;
  const given = ms.trim() === "" ? Number.NaN : Number(ms);
  if (given >= 0) return given;
  if (after.trim() === "") return undefined;
  const seconds = Number(after);
  if (seconds >= 0) return seconds * 1000;
  const until = Date.parse(after);
  return Number.isNaN(until) ? undefined : Math.max(0, until - now);
};

/** The largest number of milliseconds that JSON holds exactly. */
const toCount = (ms: number): number => Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER);

const firstDelayMs = 1000;

/** A header such as `x-ratelimit-remaining-tokens` that says 0. */
const isOutOfTokens = (headers: Headers): boolean =>
  Object.entries(headers).some(
    ([name, value]) => /tokens/i.test(name) && /remaining/i.test(name) && value.trim() === "0",
  );

/** What follows a rate limit: wait so long, behind others or not. */
export interface BackOff {
  readonly waitMs: number;
  readonly isQueued: boolean;
}

/**
 * Asks the harness what to do about a rate limit (AHP 2.4, `rate_limit`). Rejects with `rate_limited` where there is no
 * other attempt; with the provider's own error where the harness does not decide rate limits.
 */
export const backOff = async (
  supervision: Supervision,
  error: Error,
  attempt: number,
  signal: AbortSignal | undefined,
): Promise<BackOff> => {
  const { client, clock, limits } = supervision;
  const { maxRateLimitAttempts, maxRateLimitWaitMs } = limits;
  const details = { eventType: "rate_limit", cause: error } as const;
  const headers = headersOf(error);
  const retryAfterMs = toCount(
    demandedMs(headers, clock.now()) ?? firstDelayMs * 2 ** Math.min(attempt - 1, 20),
  );
  const payload = {
    session_id: client.sessionId,
    limit_type: isOutOfTokens(headers) ? ("llm_token_limit" as const) : ("llm_request_limit" as const),
    retry_after_ms: retryAfterMs,
    current_usage: `HTTP 429 at attempt ${attempt} of ${maxRateLimitAttempts}`,
  };
  const verdict = await supervision.ask("rate_limit", payload, signal, details);
  if (verdict.origin === "client" && verdict.code === "not_handled") throw error;
  const decision: RateLimitDecision = verdict.decision;
  if (decision.decision === "skip") {
    if (verdict.origin === "client" && verdict.code === "cancelled") throw undecided(verdict, details);
    const failure = verdict.origin === "client" ? { failure: verdict.code } : {};
    throw new SupervisionError("rate_limited", decision.reason, { ...details, ...failure, retryAfterMs });
  }
  const waitMs = decision.decision === "retry" ? decision.retry_after_ms : retryAfterMs;
  if (attempt >= maxRateLimitAttempts || waitMs > maxRateLimitWaitMs) {
    const name = attempt >= maxRateLimitAttempts ? "maxRateLimitAttempts" : "maxRateLimitWaitMs";
    const reason = `${name} of ${limits[name]} is reached`;
    throw new SupervisionError("rate_limited", reason, { ...details, retryAfterMs: waitMs });
  }
  return { waitMs, isQueued: decision.decision === "queue" };
};
