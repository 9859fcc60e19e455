import { InvalidArgumentError } from "@harnesskit/wire";
import type { Authenticate, TokenPrincipal } from "./authenticate.ts";
import type { ExchangeRoute } from "./exchange-core.ts";
import { FetchRequestView } from "./fetch-request.ts";
import { createCore, type HandlerOptions } from "./handler-options.ts";
import { createTokenAuthenticate } from "./web-token.ts";

/** Who is let in: who shows this token, or whom this function knows. */
export type Admission<Principal> =
  | { readonly token: string; readonly authenticate?: never }
  | { readonly authenticate: Authenticate<Principal>; readonly token?: never };

export type FetchHandlerOptions<Principal = TokenPrincipal> = HandlerOptions &
  ExchangeRoute<Principal> &
  Admission<Principal> & {
    /** The path that takes messages. */
    readonly path: string;
    /** The hosts that requests may be made to: `localhost` for any port, `agent.example:8443` for one. */
    readonly allowedHosts: readonly string[];
  };

/** What the platform knows about a request beside what stands in it. */
export interface FetchInfo {
  readonly remoteAddress?: string;
}

/** Answers a web-standard request. Never rejects. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/**
 * Serves an exchange as a web-standard handler, for Hono, Next, Express, Deno, Bun or a worker. One POST of one JSON
 * message is answered 200 with a JSON reply or 204 without; everything else has its status in the README's table.
 * Throws `invalid_argument`, also where neither a token nor `authenticate` is given: pass `allowAnyone` where
 * something before the handler has looked at the credentials.
 */
export const createFetchHandler = <Principal = TokenPrincipal>(
  options: FetchHandlerOptions<Principal>,
): FetchHandler => {
  const { path, allowedHosts, token, authenticate, handle } = options;
  const { malformed, unsendable, replyHeaders } = options;
  if ((token === undefined) === (authenticate === undefined)) {
    throw new InvalidArgumentError("pass a token or authenticate; allowAnyone is one that lets everybody in");
  }
  const { core } = createCore<Principal>(options, {
    allowedHosts,
    authenticate:
      authenticate ??
      (createTokenAuthenticate(token ?? "") as Authenticate<unknown> as Authenticate<Principal>),
    routes: {
      [path]: {
        handle,
        ...(malformed && { malformed }),
        ...(unsendable && { unsendable }),
        ...(replyHeaders && { replyHeaders }),
      },
    },
  });
  return async (request, info) => {
    const answer = await core.answer(new FetchRequestView(request, info?.remoteAddress));
    const { status, own = [], body } = answer;
    const headers = new Headers(answer.headers);
    for (let index = 0; index < own.length; index += 2) headers.set(own[index] ?? "", own[index + 1] ?? "");
    const isHead = request.method === "HEAD";
    return new Response(isHead ? null : (body ?? null), { status, headers });
  };
};
