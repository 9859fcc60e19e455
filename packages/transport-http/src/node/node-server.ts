import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { reportLostConnections, systemErrorCode } from "@harnesskit/node-kit";
import { HarnessError, TransportError } from "@harnesskit/wire";
import type { HttpServerLimits } from "./limits.ts";
import type { HttpServerOptions } from "./server-options.ts";

/** `127.0.0.1:8080`, `[::1]:8080`. */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Node's server with all its limits set. */
export const createNodeServer = (
  options: HttpServerLimits,
  tls: HttpServerOptions<unknown>["tls"],
): Server => {
  const { headersTimeoutMs, bodyTimeoutMs, keepAliveMs, maxHeaderBytes, maxConnections } = options;
  const settings = {
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: headersTimeoutMs,
    // The whole request; the body has its own, shorter time.
    requestTimeout: headersTimeoutMs + bodyTimeoutMs + 5000,
    // A little longer than what clients are promised, so that no message crosses the close on its way.
    keepAliveTimeout: keepAliveMs + 2000,
    connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
    noDelay: true,
    // As Node's own HTTP server has it, and its HTTPS server has not.
    allowHalfOpen: true,
  };
  const server = tls
    ? createTlsServer({ ...settings, ...tls, handshakeTimeout: headersTimeoutMs })
    : createServer(settings);
  server.maxConnections = maxConnections;
  return server;
};

/** Binds. Rejects with `address_in_use` and `transport_failed`. */
export const bindServer = (
  server: Server,
  host: string,
  port: number,
  onLost: (error: TransportError) => void,
): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    const onError = (cause: Error) => {
      const code = systemErrorCode(cause) ?? "unknown";
      const text = `${hostAndPort(host, port)} cannot be listened on (${code}): choose another address or port`;
      const isInUse = code === "EADDRINUSE";
      reject(
        isInUse ? new HarnessError("address_in_use", text, { cause }) : new TransportError(text, { cause }),
      );
    };
    server.once("error", onError);
    server.listen({ host, port }, () => {
      server.off("error", onError);
      // What fails from now on is taking one connection; the others go on.
      reportLostConnections(server, onLost);
      resolve(server.address() as AddressInfo);
    });
  });
