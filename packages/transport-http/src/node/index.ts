export type { HttpExchange } from "../exchange-options.ts";
export { createHttpExchange, type NodeHttpExchangeOptions } from "./http-exchange.ts";
export { createHttpServer, type HttpServer } from "./http-server.ts";
export type {
  HttpServerLimits,
  NodeExchangeLimits,
  NodeWebSocketLimits,
  WebSocketListenerLimits,
} from "./limits.ts";
export { toNodeHandler, type WebHandler } from "./node-handler.ts";
export type { FallbackHandler, HttpServerOptions } from "./server-options.ts";
export { InsecureTokenFileError } from "./token-file.ts";
export type { WebSocketContext } from "./web-socket-listener.ts";
export { createWebSocketTransport, type NodeWebSocketTransportOptions } from "./web-socket-transport.ts";
