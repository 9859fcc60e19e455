export type { HttpCall, HttpExchange, HttpExchangeOptions, HttpRetryOptions } from "../exchange-options.ts";
export type { ClientTlsOptions } from "./http-exchange.ts";
export { createHttpExchange, type NodeHttpExchangeOptions } from "./http-exchange.ts";
export { createHttpServer, type HttpServer } from "./http-server.ts";
export {
  type HttpServerLimits,
  httpServerLimits,
  type NodeExchangeLimits,
  type NodeWebSocketLimits,
  nodeExchangeLimits,
  nodeWebSocketLimits,
  type WebSocketListenerLimits,
  webSocketListenerLimits,
} from "./limits.ts";
export { toNodeHandler, type WebHandler } from "./node-handler.ts";
export type { FallbackHandler, HttpServerOptions, ServerTlsOptions } from "./server-options.ts";
export { InsecureTokenFileError } from "./token-file.ts";
export type { WebSocketContext, WebSocketListenerOptions } from "./web-socket-listener.ts";
export { createWebSocketTransport, type NodeWebSocketTransportOptions } from "./web-socket-transport.ts";
