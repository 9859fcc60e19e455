import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { WebSocketServer } from "ws";
import type { ConformanceLimits } from "../limits.ts";
import { createByteLink } from "../link/byte-link.ts";
import { createHttpHostLink, factsOf, type RequestFacts } from "../link/http-host-link.ts";
import type { Link } from "../link/link.ts";
import { socketStream } from "../link/socket-stream.ts";
import { createWebSocketLink } from "../link/web-socket-link.ts";
import { packageDirectory } from "../scenario/load-suite.ts";
import type { TransportName } from "../scenario/step-schema.ts";
import type { Framing } from "../scenario/suite-schema.ts";

/** A connection of a client, and the request that opened it. */
export interface AcceptedLink {
  readonly link: Link;
  readonly facts?: RequestFacts;
}

/** The server that a client under test meets. */
export interface Host {
  /** What the client is given. */
  readonly endpoint: string;
  close(): Promise<void>;
}

export interface HostOptions {
  readonly transport: TransportName;
  readonly framing: Framing;
  readonly folder: string;
  readonly path: string;
  readonly limits: ConformanceLimits;
  onLink(accepted: AcceptedLink): void;
  /** A message over HTTP, and the request that carried it. */
  onMessage(message: unknown, facts: RequestFacts): void;
}

const stop = async (server: Server | HttpServer): Promise<void> => {
  const closed = once(server, "close");
  server.close();
  if ("closeAllConnections" in server) server.closeAllConnections();
  await closed;
};

const portOf = (server: Server | HttpServer): number => {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
};

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const hostBytes = async (options: HostOptions): Promise<Host> => {
  const { transport, folder, framing, limits } = options;
  const links = new Set<Link>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const link = createByteLink(socketStream(socket), framing, limits);
    // A client that has ended waits for the end of its server.
    socket.once("end", () => socket.end());
    links.add(link);
    options.onLink({ link });
  });
  const path = join(folder, "suite.sock");
  if (transport === "tcp") server.listen(0, "127.0.0.1");
  else server.listen(path);
  await once(server, "listening");
  const relay = `stdio:${quoted(process.execPath)} ${quoted(join(packageDirectory, "relay.mjs"))} ${quoted(path)}`;
  const endpoint =
    transport === "stdio" ? relay : transport === "tcp" ? `tcp:127.0.0.1:${portOf(server)}` : `unix:${path}`;
  return {
    endpoint,
    async close() {
      await Promise.all([...links].map((link) => link.close()));
      await stop(server);
    },
  };
};

const hostHttp = async (options: HostOptions): Promise<Host> => {
  const { limits, path, transport } = options;
  const server = createHttpServer();
  const links = new Set<Link>();
  if (transport === "http") {
    const link = createHttpHostLink(limits, options.onMessage);
    let isOpen = false;
    server.on("request", (request, response) => {
      if (!isOpen) options.onLink({ link, facts: factsOf(request) });
      isOpen = true;
      link.receive(request, response);
    });
    links.add(link);
  } else {
    const sockets = new WebSocketServer({ server, maxPayload: limits.maxMessageBytes });
    sockets.on("connection", (socket, request) => {
      const link = createWebSocketLink(socket, limits);
      links.add(link);
      options.onLink({ link, facts: factsOf(request) });
    });
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `${transport}://127.0.0.1:${portOf(server)}${path}`,
    async close() {
      await Promise.all([...links].map((link) => link.close()));
      await stop(server);
    },
  };
};

/** Listens for a client under test. */
export const createHost = (options: HostOptions): Promise<Host> =>
  options.framing === "post" || options.framing === "text" ? hostHttp(options) : hostBytes(options);
