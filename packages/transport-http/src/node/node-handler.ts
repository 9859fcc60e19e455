import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { callSafely, InvalidArgumentError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { bodyWasRead } from "../server/answers.ts";

/** A web-standard handler, as far as the adapter calls it. */
export type WebHandler = (
  request: Request,
  info: { readonly remoteAddress?: string },
) => Response | Promise<Response>;

const toHeaders = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
};

/** Undefined for a host, a target or a method that no web-standard request can have. */
const toRequestIfValid = (incoming: IncomingMessage, signal: AbortSignal): Request | undefined => {
  try {
    return toRequest(incoming, signal);
  } catch {
    return undefined;
  }
};

const endWith = (outgoing: ServerResponse, status: number, text = ""): void => {
  const type = text === "" ? {} : { "content-type": "text/plain; charset=utf-8" };
  outgoing.writeHead(status, { ...type, "content-length": Buffer.byteLength(text), connection: "close" });
  outgoing.end(text);
};

const mayHaveBody = ({ method }: IncomingMessage): boolean => method !== "GET" && method !== "HEAD";

const toRequest = (incoming: IncomingMessage, signal: AbortSignal): Request => {
  const { method = "GET", headers, socket } = incoming;
  // Express moves the mount path out of `url` and keeps the whole in `originalUrl`.
  const { originalUrl } = incoming as { originalUrl?: unknown };
  const target = typeof originalUrl === "string" ? originalUrl : (incoming.url ?? "/");
  const scheme = "encrypted" in socket ? "https" : "http";
  const url = new URL(target, `${scheme}://${headers.host ?? "localhost"}`);
  const hasBody = mayHaveBody(incoming);
  return new Request(
    url,
    defined({
      method,
      headers: toHeaders(incoming),
      signal,
      body: hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : undefined,
      duplex: hasBody ? "half" : undefined,
    }) as RequestInit,
  );
};

const writeResponse = async (
  response: Response,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
): Promise<void> => {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) if (name !== "set-cookie") headers[name] = value;
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  if (!incoming.complete) headers.connection = "close";
  outgoing.writeHead(response.status, headers);
  if (!response.body || incoming.method === "HEAD") {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing);
};

/**
 * Mounts a web-standard handler in Express or on `node:http`. The request's signal aborts when the client goes away
 * before its answer is complete; a streamed answer stops then. A handler that fails is answered 500 without a word,
 * and `onError` receives the failure; what that throws is ignored. What cannot be a web-standard request is answered 400.
 * In Express, mount it before any parser of bodies: a body that was read before is a failure, `invalid_argument`, and the
 * answer says so.
 */
export const toNodeHandler =
  (handler: WebHandler, onError: (error: unknown) => void = () => {}) =>
  async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const abort = new AbortController();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) abort.abort();
    });
    incoming.on("error", () => {});
    const { remoteAddress } = incoming.socket;
    try {
      if (mayHaveBody(incoming) && incoming.readableDidRead) {
        callSafely(() => onError(new InvalidArgumentError(bodyWasRead)));
        return endWith(outgoing, 500, bodyWasRead);
      }
      const request = toRequestIfValid(incoming, abort.signal);
      if (request === undefined) return endWith(outgoing, 400);
      const response = await handler(request, remoteAddress === undefined ? {} : { remoteAddress });
      await writeResponse(response, outgoing, incoming);
    } catch (error) {
      if (!abort.signal.aborted) callSafely(() => onError(error));
      if (outgoing.headersSent) outgoing.destroy();
      else endWith(outgoing, 500);
    }
  };
