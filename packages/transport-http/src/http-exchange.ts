import type { HttpExchange, HttpExchangeOptions } from "./exchange-client.ts";
import { createExchangeClient } from "./exchange-client.ts";
import { createFetchPoster, type Fetch } from "./fetch-poster.ts";

export interface FetchExchangeOptions extends HttpExchangeOptions {
  /** @default the platform's fetch */
  readonly fetch?: Fetch;
}

/**
 * A client that posts each message to one URL with `fetch`: for browsers, workers and any other platform. In Node,
 * the one of `@harnesskit/transport-http/node` is several times faster. Throws `invalid_argument`.
 */
export const createHttpExchange = (options: FetchExchangeOptions): HttpExchange =>
  createExchangeClient(options, (url) => createFetchPoster(url, options.fetch));
