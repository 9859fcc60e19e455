export type { HttpCredentials } from "./credentials.ts";
export {
  HttpReplyError,
  HttpStatusError,
  TlsError,
  WebSocketCloseError,
} from "./errors.ts";
export type { HttpExchange } from "./exchange-options.ts";
export { createHttpExchange, type FetchExchangeOptions } from "./http-exchange.ts";
export { readBody } from "./read-body.ts";
export {
  type Authenticate,
  type Authentication,
  type AuthenticationRequest,
  allowAnyone,
  createTokenAuthenticate,
  type TokenPrincipal,
} from "./server/authenticate.ts";
export {
  createFetchHandler,
  type FetchHandler,
  type FetchHandlerOptions,
} from "./server/fetch-handler.ts";
export type { WebSocketClientContext } from "./socket/connect-socket.ts";
export { createWebSocketTransport, type PlatformTransportOptions } from "./socket/web-socket-transport.ts";
