import { defineOptions } from "@harnesskit/wire";
import type { ChatHandlerOptions } from "./ai-sdk-ui/chat-handler.ts";
import type { FetchExchangeOptions } from "./http-exchange.ts";
import type { NodeHttpExchangeOptions } from "./node/http-exchange.ts";
import type { HttpServerOptions } from "./node/server-options.ts";
import type { NodeWebSocketTransportOptions } from "./node/web-socket-transport.ts";
import type { FetchHandlerOptions } from "./server/fetch-handler.ts";
import type { PlatformTransportOptions } from "./socket/web-socket-transport.ts";

export const checkChatHandlerOptions = defineOptions<ChatHandlerOptions<unknown>>("createChatHandler", {
  clock: false,
  onError: false,
  allowedOrigins: false,
  onRefused: false,
  token: false,
  authenticate: false,
  transport: true,
  path: false,
  allowedHosts: true,
  authorize: false,
  limits: false,
});

export const checkHttpExchangeOptions = defineOptions<FetchExchangeOptions>("createHttpExchange", {
  fetch: false,
  url: true,
  headers: false,
  credentials: false,
  timeoutMs: false,
  limits: false,
  retry: false,
  clock: false,
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
    allowedOrigins: false,
    limits: false,
    contextHeaders: false,
    health: false,
    onError: false,
    onRefused: false,
    clock: false,
    handle: true,
    handleStream: false,
    malformed: false,
    unsendable: false,
    replyHeaders: false,
    token: false,
    authenticate: false,
    path: true,
    allowedHosts: true,
    connect: false,
    stats: false,
    state: false,
    close: false,
  },
);

export const checkWebSocketTransportOptions = defineOptions<PlatformTransportOptions>(
  "createWebSocketTransport",
  {
    credentialsIn: { query: true },
    limits: false,
    WebSocket: false,
    url: true,
    credentials: false,
    protocols: false,
    clock: false,
  },
);

export const checkNodeHttpExchangeOptions = defineOptions<NodeHttpExchangeOptions>("createHttpExchange", {
  limits: false,
  tls: false,
  timeoutMs: false,
  clock: false,
  url: true,
  headers: false,
  credentials: false,
  retry: false,
});

export const checkNodeHttpServerOptions = defineOptions<HttpServerOptions<unknown>>("createHttpServer", {
  host: false,
  port: false,
  allowRemote: false,
  routes: false,
  fallback: false,
  token: false,
  tokenFile: false,
  authenticate: false,
  allowedHosts: false,
  publicOrigin: false,
  allowOwnOrigin: false,
  tls: false,
  limits: false,
  clock: false,
  onError: false,
  contextHeaders: false,
  health: false,
  allowedOrigins: false,
  onRefused: false,
});

export const checkNodeWebSocketTransportOptions = defineOptions<NodeWebSocketTransportOptions>(
  "createWebSocketTransport",
  {
    limits: false,
    credentialsIn: { header: true, query: true },
    headers: false,
    tls: false,
    url: true,
    credentials: false,
    protocols: false,
    clock: false,
  },
);
