import { InvalidArgumentError } from "@harnesskit/wire";
import type { RequestView } from "./request-view.ts";

/** What a server knows about the sender of a message. */
export interface HttpContext<Principal = unknown> {
  readonly transport: "http" | "websocket";
  /** The path that was requested. */
  readonly path: string;
  readonly remoteAddress: string | undefined;
  /** What `authenticate` returned. */
  readonly principal: Principal;
  /** The headers that `contextHeaders` names, as far as the request has them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The context of one exchange. */
export interface HttpExchangeContext<Principal = unknown> extends HttpContext<Principal> {
  readonly transport: "http";
  /** Aborts when the client disconnects before it has its answer, and when the server stops waiting. */
  readonly signal: AbortSignal;
}

const secret = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

/** The names in lower case. Throws `invalid_argument` for headers that hold credentials. */
export const checkedContextHeaders = (names: readonly string[] = ["user-agent"]): readonly string[] =>
  names.map((name) => {
    const lower = name.toLowerCase();
    if (!secret.has(lower)) return lower;
    throw new InvalidArgumentError(`contextHeaders: ${lower} holds a credential; read it in authenticate`);
  });

/** The context of a request. Its signal is created only for a handler that reads it. */
export class RequestContext<Principal, Transport extends "http" | "websocket">
  implements HttpContext<Principal>
{
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly #request: RequestView;

  constructor(
    request: RequestView,
    readonly transport: Transport,
    readonly principal: Principal,
    contextHeaders: readonly string[],
  ) {
    this.path = request.path ?? "";
    this.remoteAddress = request.remoteAddress;
    this.#request = request;
    const headers: Record<string, string> = {};
    for (const name of contextHeaders) {
      const value = request.header(name);
      if (value !== undefined) headers[name] = value;
    }
    this.headers = headers;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }
}
