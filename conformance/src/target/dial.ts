import { once } from "node:events";
import { HarnessError } from "@harnesskit/wire";
import { WebSocket } from "ws";
import type { ConformanceLimits } from "../limits.ts";
import { createByteLink } from "../link/byte-link.ts";
import { createHttpLink, type HttpTarget } from "../link/http-link.ts";
import type { Link } from "../link/link.ts";
import { connectSocket, socketStream } from "../link/socket-stream.ts";
import { createWebSocketLink } from "../link/web-socket-link.ts";
import type { Framing } from "../scenario/suite-schema.ts";
import type { Credentials } from "./target-spec.ts";

/** What a connection presents: the target's credential, a wrong one, none, its other form, or in the URL's query. */
export type CredentialKind = "valid" | "wrong" | "none" | "other" | "query";

/** A server that refused to open a connection, over WebSocket with a status. */
export class RefusedConnection extends HarnessError {
  static override readonly brand = "RefusedConnection";
  readonly status: number;

  constructor(status: number) {
    super("refused", `the connection was refused with status ${status}`);
    this.status = status;
  }
}

const credentialHeaders = (
  { bearer, apiKey }: Credentials,
  kind: CredentialKind,
): Readonly<Record<string, string>> => {
  const secret = bearer ?? apiKey;
  if (kind === "none" || kind === "query" || secret === undefined) return {};
  const usesBearer = (bearer !== undefined) !== (kind === "other");
  const value = kind === "wrong" ? "wrong-credential-of-the-suite" : secret;
  return usesBearer ? { authorization: `Bearer ${value}` } : { "x-api-key": value };
};

const openWebSocket = async (
  endpoint: string,
  credentials: Credentials,
  kind: CredentialKind,
  limits: ConformanceLimits,
): Promise<Link> => {
  const url = new URL(endpoint);
  if (kind === "query" && credentials.bearer !== undefined) url.searchParams.set("token", credentials.bearer);
  if (kind === "query" && credentials.apiKey !== undefined)
    url.searchParams.set("api_key", credentials.apiKey);
  const socket = new WebSocket(url, {
    headers: credentialHeaders(credentials, kind),
    maxPayload: limits.maxMessageBytes,
    handshakeTimeout: limits.startTimeoutMs,
    perMessageDeflate: false,
  });
  const link = createWebSocketLink(socket, limits);
  const refused = new Promise<never>((_, reject) => {
    socket.once("unexpected-response", (request, response) => {
      reject(new RefusedConnection(response.statusCode ?? 0));
      request.destroy();
    });
    socket.once("error", reject);
  });
  refused.catch(() => {});
  await Promise.race([once(socket, "open"), refused]);
  return link;
};

/**
 * Opens one connection to an endpoint (`unix:PATH`, `tcp:HOST:PORT`, `http://…`, `ws://…`). Rejects with
 * {@link RefusedConnection} or with the error of the system.
 */
export const dial = async (
  endpoint: string,
  framing: Framing,
  credentials: Credentials,
  kind: CredentialKind,
  limits: ConformanceLimits,
): Promise<Link> => {
  if (endpoint.startsWith("unix:"))
    return createByteLink(socketStream(await connectSocket({ path: endpoint.slice(5) })), framing, limits);
  if (endpoint.startsWith("tcp:")) {
    const { hostname, port } = new URL(`http://${endpoint.slice(4)}`);
    const socket = await connectSocket({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    return createByteLink(socketStream(socket), framing, limits);
  }
  if (endpoint.startsWith("ws")) return await openWebSocket(endpoint, credentials, kind, limits);
  const target: HttpTarget = {
    url: new URL(endpoint),
    credentialHeaders: (each) => credentialHeaders(credentials, each),
  };
  return createHttpLink(target, kind === "query" ? "none" : kind, {
    ...limits,
    withinMs: limits.startTimeoutMs,
  });
};
