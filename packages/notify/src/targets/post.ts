import { NotifyError } from "../notify-error.ts";

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string | Uint8Array;
}

/** What a delivery may use. */
export interface DeliveryContext {
  readonly fetch: typeof fetch;
  /** Aborts after the time that a target has, and when the notifier is closed. */
  readonly signal: AbortSignal;
}

const maxRetryAfterMs = 600_000;

const retryAfterMs = (value: string | null): number => {
  const seconds = Number(value);
  return value !== null && Number.isFinite(seconds) && seconds > 0
    ? Math.min(seconds * 1000, maxRetryAfterMs)
    : 0;
};

/** Statuses after which the same request may succeed. */
const isTransient = (status: number): boolean => status >= 500 || [408, 425, 429].includes(status);

/**
 * Sends JSON, where the headers say nothing else. A redirect is an answer that refuses: it could carry the notice anywhere. Rejects with `target_refused`, `target_gone`,
 * `target_unreachable` and `target_timeout`; no message holds the address.
 */
export const post = async (
  { url, headers, body }: Post,
  { fetch, signal }: DeliveryContext,
): Promise<void> => {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : new Uint8Array(body),
      redirect: "manual",
      signal,
    });
    await response.body?.cancel();
  } catch (cause) {
    if (signal.aborted) throw new NotifyError("target_timeout", "it did not answer in time");
    // The cause names the host and may name the address: only its code is kept.
    const code = (cause as { cause?: { code?: unknown } }).cause?.code;
    throw new NotifyError(
      "target_unreachable",
      `it cannot be reached${code === undefined ? "" : ` (${String(code)})`}`,
    );
  }
  const { status } = response;
  if (status >= 200 && status < 300) return;
  const isGone = status === 404 || status === 410;
  throw new NotifyError(isGone ? "target_gone" : "target_refused", `it answered with status ${status}`, {
    isFinal: !isTransient(status),
    retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
  });
};
