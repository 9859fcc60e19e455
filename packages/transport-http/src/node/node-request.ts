import type { IncomingMessage, ServerResponse } from "node:http";
import { joinChunks } from "../read-body.ts";
import type { BodyLimits, ReadBody, RequestView } from "../server/request-view.ts";

/** Headers of which a request may have one only: two readers could see two requests in it. */
const single = new Set(["host", "origin", "authorization", "x-api-key", "content-type", "content-length"]);
const singleLengths = new Set([...single].map((name) => name.length));

/** True when a request names its host, origin, credentials or body twice. */
export const hasDoubleHeaders = ({ rawHeaders, headers }: IncomingMessage): boolean => {
  if (2 * Object.keys(headers).length === rawHeaders.length) return false;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] ?? "";
    if (!singleLengths.has(given.length)) continue;
    const name = given.toLowerCase();
    if (!single.has(name)) continue;
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
};

const noBytes = new Uint8Array(0);

/** A request of Node's server as the rules look at it. */
export class NodeRequest implements RequestView {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse | undefined;
  /** Called before the body is read, for a client that waits to be asked for it. */
  readonly #beforeBody: (() => void) | undefined;
  readonly path: string | undefined;
  readonly query: string;
  readonly authority: string | undefined;
  readonly remoteAddress: string | undefined;
  #abort: AbortController | undefined;
  /** Its client went away before its handling began, and its signal is still to say so, as one event. */
  #isGoneUntold = false;
  #hasAnswer = false;

  constructor(request: IncomingMessage, response?: ServerResponse, beforeBody?: () => void) {
    this.#request = request;
    this.#response = response;
    this.#beforeBody = beforeBody;
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

  /** It came to its end: what comes behind it on the connection is not its body. */
  get isWhole(): boolean {
    return this.#request.complete;
  }

  /** Its answer is there. Always true for an upgrade, which is no concern of this connection's answers. */
  get isAnswered(): boolean {
    return this.#hasAnswer || (this.#response?.writableEnded ?? true);
  }

  /** Its answer waits to be written. */
  answered(): void {
    this.#hasAnswer = true;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get signal(): AbortSignal {
    return this.#aborting().signal;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Its handling begins: its handler sees the client go, also where that has gone already. */
  begin(): void {
    if (!this.#request.socket.destroyed) return;
    this.#isGoneUntold = true;
    setImmediate(() => {
      this.#isGoneUntold = false;
      this.abort();
    });
  }

  /** Tells whoever handles the request that nobody waits for its answer. */
  abort(): void {
    if (this.#abort) this.#abort.abort();
  }

  readBody(limits: BodyLimits): ReadBody | Promise<ReadBody> {
    this.#beforeBody?.();
    return this.#request.complete ? this.#wholeBody(limits) : this.#collect(limits);
  }

  /** A body that came with its head, as nearly all do, is not waited for. Its length is known here first where it came in chunks. */
  #wholeBody({ maxBytes }: BodyLimits): ReadBody {
    const bytes = (this.#request.read() as Uint8Array | null) ?? noBytes;
    return bytes.length > maxBytes ? { problem: "too_large" } : { bytes };
  }

  #collect({ maxBytes, timeoutMs, clock }: BodyLimits): Promise<ReadBody> {
    const request = this.#request;
    return new Promise((resolve) => {
      const chunks: Uint8Array[] = [];
      let length = 0;
      let isSettled = false;
      const settle = (body: ReadBody) => {
        if (isSettled) return;
        isSettled = true;
        takeBack();
        // The listeners stay, which costs less than to take them off; they hold nothing.
        chunks.length = 0;
        if ("problem" in body) request.pause();
        resolve(body);
      };
      request.on("data", (chunk: Uint8Array) => {
        if (isSettled) return;
        length += chunk.length;
        if (length > maxBytes) settle({ problem: "too_large" });
        else chunks.push(chunk);
      });
      request.on("end", () => {
        if (!isSettled) settle({ bytes: joinChunks(chunks, length) });
      });
      request.on("close", () => settle({ problem: "gone" }));
      const takeBack = clock.after(timeoutMs, () => settle({ problem: "too_slow" }));
      if (request.destroyed) settle({ problem: "gone" });
    });
  }

  /** Made for the few that ask for it. */
  #aborting(): AbortController {
    if (this.#abort) return this.#abort;
    const abort = new AbortController();
    this.#abort = abort;
    const response = this.#response;
    const socket = this.#request.socket;
    if (this.#isGoneUntold) return abort;
    if (socket.destroyed) abort.abort();
    else if (response) {
      response.once("close", () => {
        if (!response.writableFinished) abort.abort();
      });
    } else socket.once("close", () => abort.abort());
    return abort;
  }
}
