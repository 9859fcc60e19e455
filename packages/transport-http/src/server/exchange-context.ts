import { type AuthenticationRequest, type ShownCredential, shownCredential } from "./authenticate.ts";
import { type HttpExchangeContext, pickHeaders } from "./context.ts";
import type { RequestView } from "./request-view.ts";

/*
 * Classes, because a literal with a getter or a function of its own gets a hidden class of its own each time. Those are made
 * in the old space, and keep the whole request alive until the next full collection of garbage.
 */

/** What `authenticate` sees of a request. */
export class ShownRequest implements AuthenticationRequest {
  readonly transport: "http" | "websocket";
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly credential: ShownCredential | undefined;
  readonly #request: RequestView;

  constructor(request: RequestView, transport: "http" | "websocket", acceptQuery: boolean) {
    this.transport = transport;
    this.path = request.path ?? "";
    this.remoteAddress = request.remoteAddress;
    this.credential = shownCredential(request, acceptQuery);
    this.#request = request;
  }

  /** Can be taken out of the object, as a function can. */
  get header(): (name: string) => string | undefined {
    return (name) => this.#request.header(name);
  }

  /** Made when it is asked for. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** The context of one exchange. */
export class ExchangeContext<Principal> implements HttpExchangeContext<Principal> {
  readonly transport = "http";
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly principal: Principal;
  readonly headers: Readonly<Record<string, string>>;
  readonly #request: RequestView;

  constructor(request: RequestView, path: string, principal: Principal, contextHeaders: readonly string[]) {
    this.path = path;
    this.remoteAddress = request.remoteAddress;
    this.principal = principal;
    this.headers = pickHeaders(request, contextHeaders);
    this.#request = request;
  }

  /** Made when it is asked for. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }
}
