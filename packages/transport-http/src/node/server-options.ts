import type { SecureContextOptions, TlsOptions } from "node:tls";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { Authenticate } from "../server/authenticate.ts";
import type { HttpContext } from "../server/context.ts";
import type { ExchangeRoute, HandlerOptions } from "../server/handler-options.ts";
import { type HttpServerLimits, httpServerLimits } from "./limits.ts";
import { assertBindable } from "./loopback.ts";

/** What the server shows and asks for where it speaks TLS. */
export interface ServerTlsOptions
  extends Pick<SecureContextOptions, "cert" | "key" | "ca">,
    Pick<TlsOptions, "requestCert"> {}

/** Serves what no route does, after the same checks of host, origin and credentials. */
export type FallbackHandler<Principal> = (
  request: Request,
  context: HttpContext<Principal>,
) => Response | Promise<Response>;

export interface HttpServerOptions<Principal> extends Omit<HandlerOptions, "limits"> {
  /** An address of this machine. @default "127.0.0.1" */
  readonly host?: string | undefined;
  /** 0 lets the system choose. @default 0 */
  readonly port?: number | undefined;
  /** Whether `host` may be open to other machines. Then `allowedHosts` is needed. @default false */
  readonly allowRemote?: boolean | undefined;
  /** What answers posted messages, by path. @default none */
  readonly routes?: Readonly<Record<string, ExchangeRoute<Principal>>> | undefined;
  /** A web-standard handler for all other paths. @default 404 */
  readonly fallback?: FallbackHandler<Principal> | undefined;
  /** What clients have to show. @default a new one of 256 bits, in a file */
  readonly token?: string | undefined;
  /** Where the token that is made is written. @default a new private directory */
  readonly tokenFile?: string | undefined;
  /** Judges clients in place of a token. @default by `token` */
  readonly authenticate?: Authenticate<Principal> | undefined;
  /** The hosts that requests may be made to. @default the loopback names with the port */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Whether pages that this server serves itself may send requests: its own origins are allowed. @default false */
  readonly allowOwnOrigin?: boolean | undefined;
  /**
   * The origin at which a proxy serves this server: `https://hub.example.org`. Its host is allowed beside the others, and where
   * `allowOwnOrigin` is set, its pages too. @default none
   */
  readonly publicOrigin?: string | undefined;
  /** @default plain HTTP */
  readonly tls?: ServerTlsOptions | undefined;
  /** @default see each limit */
  readonly limits?: Partial<HttpServerLimits> | undefined;
}

/** The options that have defaults, with these. Throws `invalid_argument`. */
export const resolveServerOptions = <Principal>(options: HttpServerOptions<Principal>) => {
  const { host = "127.0.0.1", port = 0, allowRemote = false } = options;
  assertBindable(host, allowRemote);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidArgumentError("port is a whole number from 0 to 65535");
  }
  if (allowRemote && options.allowedHosts === undefined) {
    throw new InvalidArgumentError(
      "allowRemote needs allowedHosts: the names that clients know the server by",
    );
  }
  const ways = [options.token, options.tokenFile, options.authenticate].filter((way) => way !== undefined);
  if (ways.length > 1) throw new InvalidArgumentError("pass one of token, tokenFile and authenticate");
  return { host, port, limits: httpServerLimits.resolve(options.limits) };
};
