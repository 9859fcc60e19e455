import { FrameTooLargeError, InvalidArgumentError } from "@harnesskit/wire";
import { createExchangeClient, type Poster } from "./exchange-client.ts";
import type { HttpExchange, HttpExchangeOptions } from "./exchange-options.ts";
import { exchangeLimits } from "./limits.ts";
import { checkHttpExchangeOptions } from "./option-names.ts";
import { readStream } from "./read-body.ts";

/** The part of `fetch` that is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface FetchExchangeOptions extends HttpExchangeOptions {
  /** @default the platform's fetch */
  readonly fetch?: Fetch | undefined;
}

const platformFetch = (): Fetch => {
  if (typeof globalThis.fetch !== "function")
    throw new InvalidArgumentError("fetch: this platform has none, pass one");
  return (url, init) => globalThis.fetch(url, init);
};

/** Posts with `fetch`. Sends no cookie and no referrer, and follows no redirect. */
const createFetchPoster = (url: URL, fetch: Fetch = platformFetch()): Poster => ({
  async post({ headers, body, onStart }) {
    const abort = new AbortController();
    onStart(() => abort.abort());
    const response = await fetch(url.href, {
      method: "POST",
      headers,
      body,
      signal: abort.signal,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    return {
      status: response.type === "opaqueredirect" ? 0 : response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      async read(maxBytes) {
        if (!response.body) return new Uint8Array(0);
        const bytes = await readStream(response.body, maxBytes);
        if (!bytes) throw new FrameTooLargeError(maxBytes);
        return bytes;
      },
      async *chunks() {
        const reader = response.body?.getReader();
        for (;;) {
          const { done = true, value } = (await reader?.read()) ?? {};
          if (done || value === undefined) return;
          yield value;
        }
      },
      discard: () => void response.body?.cancel().catch(() => {}),
    };
  },
  close() {},
});

/**
 * Creates a client that posts each message to one URL with `fetch`: for browsers, workers and any other platform. In
 * Node, the one of `@harnesskit/transport-http/node` is several times faster. Throws `invalid_argument`.
 */
export const createHttpExchange = (options: FetchExchangeOptions): HttpExchange =>
  createExchangeClient(checkHttpExchangeOptions(options), exchangeLimits.resolve(options.limits), (url) =>
    createFetchPoster(url, options.fetch),
  );
