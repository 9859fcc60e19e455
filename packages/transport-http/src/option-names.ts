import { defineOptions } from "@harnesskit/wire";
import type { ChatHandlerOptions } from "./ai-sdk-ui/chat-handler.ts";
import type { FetchExchangeOptions } from "./http-exchange.ts";
import type { NodeHttpExchangeOptions } from "./node/http-exchange.ts";
import type { HttpServerOptions } from "./node/server-options.ts";
import type { NodeWebSocketTransportOptions } from "./node/web-socket-transport.ts";
import type { FetchHandlerOptions } from "./server/fetch-handler.ts";
import type { PlatformTransportOptions } from "./socket/web-socket-transport.ts";

const server = {
  allowedOrigins: false,
  limits: false,
  onError: false,
  onRefused: false,
  clock: false,
  token: false,
  authenticate: false,
} as const;
const exchanges = { ...server, contextHeaders: false } as const;
const client = { url: true, credentials: false, limits: false, clock: false } as const;

export const checkChatHandlerOptions = defineOptions<ChatHandlerOptions<unknown>>("createChatHandler", {
  ...server,
  transport: true,
  path: false,
  allowedHosts: true,
  authorize: false,
});

/** What an engine or a server that is spread into the options has beside its exchange. */
interface SpreadRole {
  readonly connect?: unknown;
  readonly stats?: unknown;
  readonly state?: unknown;
  readonly close?: unknown;
}

export const checkFetchHandlerOptions = defineOptions<FetchHandlerOptions<unknown> & SpreadRole>(
  "createFetchHandler",
  {
    ...exchanges,
    handle: true,
    handleStream: false,
    malformed: false,
    unsendable: false,
    replyHeaders: false,
    path: true,
    allowedHosts: true,
    connect: false,
    stats: false,
    state: false,
    close: false,
  },
);

export const checkNodeHttpServerOptions = defineOptions<HttpServerOptions<unknown>>("createHttpServer", {
  ...exchanges,
  host: false,
  port: false,
  allowRemote: false,
  routes: false,
  fallback: false,
  tokenFile: false,
  allowedHosts: false,
  publicOrigin: false,
  allowOwnOrigin: false,
  tls: false,
});

const exchange = { ...client, headers: false, timeoutMs: false } as const;

export const checkHttpExchangeOptions = defineOptions<FetchExchangeOptions>("createHttpExchange", {
  ...exchange,
  fetch: false,
});

export const checkNodeHttpExchangeOptions = defineOptions<NodeHttpExchangeOptions>("createHttpExchange", {
  ...exchange,
  tls: false,
});

export const checkWebSocketTransportOptions = defineOptions<PlatformTransportOptions>(
  "createWebSocketTransport",
  { ...client, credentialsIn: { query: true }, WebSocket: false },
);

export const checkNodeWebSocketTransportOptions = defineOptions<NodeWebSocketTransportOptions>(
  "createWebSocketTransport",
  { ...client, credentialsIn: { header: true, query: true }, headers: false, tls: false },
);
