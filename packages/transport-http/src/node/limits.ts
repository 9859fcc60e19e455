import { defineLimits, type LimitsOf } from "@harnesskit/wire";
import { exchangeDefinitions, handlerDefinitions, socketDefinitions } from "../limits.ts";

export const httpServerLimits = defineLimits({
  ...handlerDefinitions,
  /** Connections at one time; further ones are closed at once and counted. @default 1024 */
  maxConnections: 1024,
  /** Bytes of one request's headers; then 431. @default 16384 */
  maxHeaderBytes: 16_384,
  /** How long a request's headers may take; then 408. @default 10000 */
  headersTimeoutMs: 10_000,
  /** How long an idle connection is kept. @default 60000 */
  keepAliveMs: 60_000,
  /** How long `close` waits for what is being handled. @default 5000 */
  graceMs: 5000,
});
export type HttpServerLimits = LimitsOf<typeof httpServerLimits>;

export const nodeExchangeLimits = defineLimits({
  ...exchangeDefinitions,
  /** Connections at one time; further messages wait for one. @default 64 */
  maxConnections: 64,
  /** How long an idle connection is kept for the next message. @default 4000 */
  keepAliveMs: 4000,
});
export type NodeExchangeLimits = LimitsOf<typeof nodeExchangeLimits>;

const nodeSocketDefinitions = {
  ...socketDefinitions,
  /** How often the other side is pinged. @default 30000 */
  pingIntervalMs: 30_000,
  /** How long a pinged side may be silent before the connection is cut. @default 10000 */
  pongTimeoutMs: 10_000,
};

export const nodeWebSocketLimits = defineLimits({
  ...nodeSocketDefinitions,
  /** How long connecting may take. @default 5000 */
  connectTimeoutMs: 5000,
});
export type NodeWebSocketLimits = LimitsOf<typeof nodeWebSocketLimits>;

export const webSocketListenerLimits = defineLimits({
  ...nodeSocketDefinitions,
  /** Connections at one time; further ones are answered 503. @default 1024 */
  maxConnections: 1024,
});
export type WebSocketListenerLimits = LimitsOf<typeof webSocketListenerLimits>;
