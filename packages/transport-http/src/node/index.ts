export { createHttpExchange, type NodeHttpExchangeOptions } from "./http-exchange.ts";
export { createHttpServer, type HttpServer } from "./http-server.ts";
export type { HttpServerLimits } from "./limits.ts";
export { toNodeHandler } from "./node-handler.ts";
export type { FallbackHandler, HttpServerOptions } from "./server-options.ts";
export { InsecureTokenFileError } from "./token-file.ts";
export type { WebSocketContext } from "./web-socket-listener.ts";
export { createWebSocketTransport, type NodeWebSocketTransportOptions } from "./web-socket-transport.ts";
