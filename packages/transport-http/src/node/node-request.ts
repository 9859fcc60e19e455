import type { IncomingMessage, ServerResponse } from "node:http";
import { LazyAbort } from "@harnesskit/wire";
import { joinChunks, toContentLength } from "../read-body.ts";
import type { BodyLimits, ReadBody, RequestView } from "../server/request-view.ts";

/** Headers of which a request may have only one: two readers could read two different requests from it. */
const singleHeaders = ["host", "origin", "authorization", "x-api-key", "content-type", "content-length"];

/** True when a request names its host, origin, credentials or body twice. */
export const hasDoubleHeaders = ({ rawHeaders, headers }: IncomingMessage): boolean => {
  if (2 * Object.keys(headers).length === rawHeaders.length) return false;
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return singleHeaders.some((name) => names.indexOf(name) !== names.lastIndexOf(name));
};

/** A request of Node's server as the rules see it. It aborts when the client is gone, or the server stops. */
export class NodeRequest extends LazyAbort implements RequestView {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse | undefined;
  readonly path: string | undefined;
  readonly query: string;
  readonly authority: string | undefined;
  readonly remoteAddress: string | undefined;

  constructor(request: IncomingMessage, response?: ServerResponse) {
    super();
    this.#request = request;
    this.#response = response;
    this.remoteAddress = request.socket.remoteAddress;
    const { url = "" } = request;
    // RFC 9112, 3.2.2: an absolute URL counts, and Host does not.
    const absolute = url.startsWith("/") || !URL.canParse(url) ? undefined : new URL(url);
    const target = absolute ? `${absolute.pathname}${absolute.search}` : url;
    const mark = target.indexOf("?");
    const isPath = target.startsWith("/");
    this.path = isPath ? (mark === -1 ? target : target.slice(0, mark)) : undefined;
    this.query = mark === -1 ? "" : target.slice(mark + 1);
    this.authority = absolute ? absolute.host : request.headers.host;
  }

  /** It was received to its end: what follows on the connection is not its body. */
  get isWhole(): boolean {
    return this.#request.complete;
  }

  /** Its answer has begun. Always true for an upgrade. */
  get isAnswered(): boolean {
    return this.#response?.headersSent ?? true;
  }

  /** Its answer is complete. Always true for an upgrade. */
  get isOver(): boolean {
    return this.#response?.writableEnded ?? true;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "string" ? value : undefined;
  }

  readBody({ maxBytes, timeoutMs, clock }: BodyLimits): Promise<ReadBody> {
    const request = this.#request;
    // What was received whole is only handed over: its end follows at once.
    const isWhole = toContentLength(request.headers["content-length"]) === request.readableLength;
    return new Promise((resolve) => {
      const chunks: Uint8Array[] = [];
      let length = 0;
      const settle = (body: ReadBody) => {
        cancelTimer();
        request.off("data", onData);
        if ("problem" in body) request.pause();
        resolve(body);
      };
      const onData = (chunk: Uint8Array) => {
        length += chunk.length;
        if (length > maxBytes) settle({ problem: "too_large" });
        else chunks.push(chunk);
      };
      const cancelTimer = isWhole ? () => {} : clock.after(timeoutMs, () => settle({ problem: "too_slow" }));
      request.on("data", onData);
      request.once("end", () => settle({ bytes: joinChunks(chunks, length) }));
      request.once("close", () => settle({ problem: "gone" }));
      if (request.destroyed) settle({ problem: "gone" });
    });
  }
}
