export type { BackoffOptions } from "@harnesskit/wire";
export type { HttpCredentials } from "./credentials.ts";
export {
  type FailureKind,
  failureKindOf,
  HttpReplyError,
  HttpStatusError,
  TlsError,
  WebSocketCloseError,
} from "./errors.ts";
export type { HttpCall, HttpExchange, HttpExchangeOptions, HttpRetryOptions } from "./exchange-options.ts";
export { createHttpExchange, type Fetch, type FetchExchangeOptions } from "./http-exchange.ts";
export {
  type ExchangeLimits,
  exchangeLimits,
  type HandlerLimits,
  handlerLimits,
  type WebSocketLimits,
  webSocketLimits,
} from "./limits.ts";
export { readBody } from "./read-body.ts";
export {
  type Authenticate,
  type Authentication,
  type AuthenticationRequest,
  allowAnyone,
  createTokenAuthenticate,
  type ShownCredential,
  type TokenPrincipal,
} from "./server/authenticate.ts";
export type { HttpContext, HttpExchangeContext } from "./server/context.ts";
export type { ExchangeRoute, OnServerError, RefusedRequest } from "./server/exchange-core.ts";
export {
  type Admission,
  createFetchHandler,
  type FetchHandler,
  type FetchHandlerOptions,
  type FetchInfo,
} from "./server/fetch-handler.ts";
export type { HandlerOptions } from "./server/handler-options.ts";
export type { HealthOptions } from "./server/health.ts";
export type { WebSocketClientContext, WebSocketClientOptions } from "./socket/connect-socket.ts";
export type { PlatformWebSocket } from "./socket/platform-socket.ts";
export { createWebSocketTransport, type PlatformTransportOptions } from "./socket/web-socket-transport.ts";
