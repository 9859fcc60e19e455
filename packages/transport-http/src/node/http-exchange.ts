import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { request as secureRequest, Agent as TlsAgent } from "node:https";
import type { SecureContextOptions } from "node:tls";
import { urlToHttpOptions } from "node:url";
import { FrameTooLargeError } from "@harnesskit/wire";
import { createExchangeClient, type Poster, type PostReply } from "../exchange-client.ts";
import type { HttpExchange, HttpExchangeOptions } from "../exchange-options.ts";
import { checkNodeHttpExchangeOptions } from "../option-names.ts";
import { joinChunks } from "../read-body.ts";
import { type NodeExchangeLimits, nodeExchangeLimits } from "./limits.ts";

/** What a client needs to trust the server, and the server to trust the client. */
export interface ClientTlsOptions extends Pick<SecureContextOptions, "ca" | "cert" | "key"> {
  /** The name that the server's certificate must contain. @default the URL's host */
  readonly servername?: string | undefined;
}

export interface NodeHttpExchangeOptions extends Omit<HttpExchangeOptions, "limits"> {
  /** @default see each limit */
  readonly limits?: Partial<NodeExchangeLimits> | undefined;
  /** For `https:` URLs. @default the system's certificate authorities */
  readonly tls?: ClientTlsOptions | undefined;
}

const readBody = (response: IncomingMessage, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    response.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBytes) response.destroy(new FrameTooLargeError(maxBytes));
    });
    response.on("end", () => resolve(joinChunks(chunks, length)));
    response.on("error", reject);
  });

const toPostReply = (response: IncomingMessage): PostReply => ({
  status: response.statusCode ?? 0,
  header(name) {
    const value = response.headers[name];
    return typeof value === "string" ? value : undefined;
  },
  read: (maxBytes) => readBody(response, maxBytes),
  chunks: () => response,
  discard() {
    // A reply without a body leaves its connection for the next message.
    if (response.statusCode === 204) response.resume();
    else response.destroy();
  },
});

/** Posts with `node:http` over connections that stay open. An idle one does not keep the process alive. */
const createNodePoster = (
  url: URL,
  { maxConnections, keepAliveMs }: NodeExchangeLimits,
  tls: ClientTlsOptions | undefined,
): Poster => {
  const isSecure = url.protocol === "https:";
  // An idle connection is closed before the usual server does it: a message on its way then would be lost.
  const pool = { keepAlive: true, maxSockets: maxConnections, timeout: keepAliveMs };
  const agent = isSecure ? new TlsAgent({ ...pool, ...tls }) : new PlainAgent(pool);
  const send = isSecure ? secureRequest : plainRequest;
  const { protocol, hostname, port, path } = urlToHttpOptions(url);
  const target = { protocol, hostname, port, path, method: "POST", agent };
  return {
    post: ({ headers, body, onStart }) =>
      new Promise((resolve, reject) => {
        const length = String(Buffer.byteLength(body));
        const list = ["host", url.host, ...Object.entries(headers).flat(), "content-length", length];
        const request = send({ ...target, headers: list });
        onStart(() => request.destroy());
        request.on("response", (response) => resolve(toPostReply(response)));
        request.on("error", reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
};

/** Creates a client that posts each message to one URL over Node's own HTTP client. Throws `invalid_argument`. */
export const createHttpExchange = (options: NodeHttpExchangeOptions): HttpExchange => {
  checkNodeHttpExchangeOptions(options);
  const limits = nodeExchangeLimits.resolve(options.limits);
  return createExchangeClient(options, limits, (url) => createNodePoster(url, limits, options.tls));
};
