import { InvalidArgumentError } from "@harnesskit/wire";
import type { RequestView } from "./request-view.ts";

/** A secret that came with a request. */
export interface ShownCredential {
  readonly scheme: "bearer" | "api_key";
  readonly secret: string;
  /** Where it was: the query of a URL may have been logged on its way. */
  readonly from: "header" | "query";
}

/** What an {@link Authenticate} judges. */
export interface AuthenticationRequest {
  readonly transport: "http" | "websocket";
  readonly path: string;
  readonly remoteAddress: string | undefined;
  /** Undefined where the request shows none. */
  readonly credential: ShownCredential | undefined;
  /** A header's value by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** A request as {@link Authenticate} gets it. Its signal is created only for one that reads it. */
export class RequestToJudge implements AuthenticationRequest {
  readonly path: string;
  readonly remoteAddress: string | undefined;
  readonly #request: RequestView;

  constructor(
    request: RequestView,
    readonly transport: "http" | "websocket",
    readonly credential: ShownCredential | undefined,
  ) {
    this.path = request.path ?? "";
    this.remoteAddress = request.remoteAddress;
    this.#request = request;
  }

  readonly header = (name: string): string | undefined => this.#request.header(name);

  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** The principal; or a refusal: `unauthorized` (401, other credentials may do) or `forbidden` (403). */
export type Authentication<Principal> =
  | { readonly principal: Principal }
  | { readonly refused: "unauthorized" | "forbidden" };

/** Whether it lets the request in. What names a refusal beside a principal is a refusal. */
export const isAdmission = <Principal>(
  found: Authentication<Principal>,
): found is { readonly principal: Principal } =>
  "principal" in found && (found as { readonly refused?: unknown }).refused === undefined;

/**
 * Judges a request before anything of its message is read. What it throws refuses the request with 500; where it gives no
 * answer within `bodyTimeoutMs`, that is 503, and a later one is ignored.
 */
export type Authenticate<Principal> = (
  request: AuthenticationRequest,
) => Authentication<Principal> | Promise<Authentication<Principal>>;

/** The principal of a client that showed the server's one token. */
export interface TokenPrincipal {
  readonly kind: "token";
}

/** The one principal of a server with a token. */
const tokenPrincipal: TokenPrincipal = Object.freeze({ kind: "token" });

/** Admits every client: for a handler behind another check of credentials. */
export const allowAnyone: Authenticate<undefined> = () => ({ principal: undefined });

const headerCredential = (request: Pick<RequestView, "header">): ShownCredential | undefined => {
  const authorization = request.header("authorization");
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return { scheme: "bearer", secret: bearer, from: "header" };
  const key = request.header("x-api-key");
  return key === undefined || key === "" ? undefined : { scheme: "api_key", secret: key, from: "header" };
};

const queryCredential = (query: string): ShownCredential | undefined => {
  const fields = new URLSearchParams(query.replaceAll("+", "%2B"));
  const token = fields.get("token");
  if (token) return { scheme: "bearer", secret: token, from: "query" };
  const key = fields.get("api_key");
  return key ? { scheme: "api_key", secret: key, from: "query" } : undefined;
};

/** The credential of a request: a header's, and the query's only where that is accepted and no header has one. */
export const shownCredential = (
  request: Pick<RequestView, "header" | "query">,
  acceptQuery: boolean,
): ShownCredential | undefined =>
  headerCredential(request) ??
  (acceptQuery && request.query !== "" ? queryCredential(request.query) : undefined);

const minSecretLength = 16;

/** Throws `invalid_argument` unless it is a secret that a header can carry and that cannot be guessed at once. */
const assertToken = (token: string): void => {
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= minSecretLength) return;
  throw new InvalidArgumentError(
    `a token has at least ${minSecretLength} visible ASCII characters and no space`,
  );
};

/** Looks at every character of the token, so that the time does not tell where a guess differs. */
const isSecret = (given: string, token: string): boolean => {
  let difference = given.length ^ token.length;
  for (let index = 0; index < token.length; index++) {
    difference |= given.charCodeAt(index) ^ token.charCodeAt(index);
  }
  return difference === 0;
};

/** Which clients are admitted: those with this token, or those that this function knows. */
export type Admission<Principal> =
  | { readonly token: string; readonly authenticate?: never }
  | { readonly authenticate: Authenticate<Principal>; readonly token?: never };

/** The one of both that was given. Throws `invalid_argument` for none and for both. */
export const authenticateOf = <Principal>({ token, authenticate }: Admission<Principal>) => {
  if ((token === undefined) === (authenticate === undefined)) {
    throw new InvalidArgumentError("pass a token or authenticate; allowAnyone admits every client");
  }
  const byToken = (): Authenticate<unknown> => createTokenAuthenticate(token ?? "");
  return authenticate ?? (byToken() as Authenticate<Principal>);
};

/**
 * Admits clients with this token, as a bearer or as an API key; it is compared in constant time. Throws
 * `invalid_argument` for a token below 16 visible ASCII characters.
 */
export const createTokenAuthenticate = (token: string): Authenticate<TokenPrincipal> => {
  assertToken(token);
  return ({ credential }) =>
    credential !== undefined && isSecret(credential.secret, token)
      ? { principal: tokenPrincipal }
      : { refused: "unauthorized" };
};
