import { assertCounts, assertTimes } from "../check-options.ts";
import { createExchangeClient, type HttpExchange, type HttpExchangeOptions } from "../exchange-client.ts";
import { type ClientTlsOptions, createNodePoster } from "./node-poster.ts";

export interface NodeHttpExchangeOptions extends HttpExchangeOptions {
  /** Connections at one time; further messages wait for one. @default 64 */
  readonly maxConnections?: number;
  /** How long an idle connection is kept for the next message. @default 4000 */
  readonly keepAliveMs?: number;
  /** For `https:` URLs. @default the system's certificate authorities */
  readonly tls?: ClientTlsOptions;
}

/** A client that posts each message to one URL over Node's own HTTP client. Throws `invalid_argument`. */
export const createHttpExchange = (options: NodeHttpExchangeOptions): HttpExchange => {
  const { maxConnections = 64, keepAliveMs = 4000, tls } = options;
  assertCounts({ maxConnections });
  assertTimes({ keepAliveMs });
  return createExchangeClient(options, (url) => createNodePoster(url, { maxConnections, keepAliveMs, tls }));
};
