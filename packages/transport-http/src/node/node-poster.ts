import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import type { SecureContextOptions } from "node:tls";
import { FrameTooLargeError } from "@harnesskit/wire";
import type { Poster, PostReply } from "../poster.ts";
import { joinChunks } from "../read-body.ts";

/** What a client needs to trust the server, and the server the client. */
export interface ClientTlsOptions extends Pick<SecureContextOptions, "ca" | "cert" | "key"> {
  /** The name that the server's certificate has to hold. @default the URL's host */
  readonly servername?: string;
}

export interface NodePosterOptions {
  readonly maxConnections: number;
  readonly keepAliveMs: number;
  readonly tls: ClientTlsOptions | undefined;
}

/** A body that ended before its announced end. */
const cutOff = () => Object.assign(new TypeError("the reply was cut off"), { code: "ECONNRESET" });

const readReply = (response: IncomingMessage, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    response.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > maxBytes) {
        reject(new FrameTooLargeError(maxBytes));
        response.destroy();
        return;
      }
      chunks.push(chunk);
    });
    response.on("end", () => resolve(joinChunks(chunks, length)));
    response.on("error", reject);
    response.on("close", () => {
      if (!response.complete) reject(cutOff());
    });
  });

const toReply = (response: IncomingMessage): PostReply => ({
  status: response.statusCode ?? 0,
  header: (name) => {
    const value = response.headers[name];
    return typeof value === "string" ? value : undefined;
  },
  read: (maxBytes) => readReply(response, maxBytes),
  discard() {
    response.on("error", () => {});
    // What has no body leaves its connection for the next message; any other body is not worth reading.
    if (response.statusCode === 204) response.resume();
    else response.destroy();
  },
});

/** Posts with Node's own client, over connections that stay open. An idle one does not keep the process alive. */
export const createNodePoster = (url: URL, options: NodePosterOptions): Poster => {
  const isTls = url.protocol === "https:";
  const shared = {
    keepAlive: true,
    maxSockets: options.maxConnections,
    scheduling: "lifo",
    // An idle connection is given up before the usual server does it: a message on its way then would be lost.
    timeout: options.keepAliveMs,
  } as const;
  const agent = isTls ? new TlsAgent({ ...shared, ...options.tls }) : new PlainAgent(shared);
  const target = {
    agent,
    method: "POST",
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    setHost: false,
  };
  const { host } = url;
  const open = isTls ? tlsRequest : plainRequest;
  return {
    post: ({ headers, body, onStart }) =>
      new Promise((resolve, reject) => {
        const request = open({
          ...target,
          headers: { host, ...headers, "content-length": Buffer.byteLength(body) },
        });
        onStart(() => void request.destroy());
        let hasReply = false;
        request.on("response", (response) => {
          hasReply = true;
          resolve(toReply(response));
        });
        request.on("error", reject);
        request.on("close", () => {
          if (!hasReply) reject(cutOff());
        });
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
};
