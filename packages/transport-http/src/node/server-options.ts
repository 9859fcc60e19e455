import { BlockList, isIP } from "node:net";
import type { SecureContextOptions, TlsOptions } from "node:tls";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { Authenticate } from "../server/authenticate.ts";
import type { HttpContext } from "../server/context.ts";
import type { ExchangeRoute, HandlerOptions } from "../server/handler-options.ts";
import { type HttpServerLimits, httpServerLimits } from "./limits.ts";

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
  /** The certificate and its key, or what else a server of Node takes for TLS. @default plain HTTP */
  readonly tls?:
    | (Pick<SecureContextOptions, "cert" | "key" | "ca"> & Pick<TlsOptions, "requestCert">)
    | undefined;
  /** @default see each limit */
  readonly limits?: Partial<HttpServerLimits> | undefined;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const isLoopbackAddress = (host: string): boolean =>
  !host.includes("%") && loopback.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");

/** The options that have defaults, with these. Throws `invalid_argument`. */
export const resolveServerOptions = <Principal>(options: HttpServerOptions<Principal>) => {
  const { host = "127.0.0.1", port = 0, allowRemote = false } = options;
  if (isIP(host) === 0)
    throw new InvalidArgumentError("host is an address, as 127.0.0.1 or ::1, and no name");
  if (!allowRemote && !isLoopbackAddress(host)) {
    throw new InvalidArgumentError(
      `${host} is open to other machines: pass allowRemote: true with allowedHosts, and use TLS, if that is meant`,
    );
  }
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

/**
 * The hosts and origins that requests may come to and from. `port` is undefined before it is known: then only what was
 * given is judged.
 */
export const siteRulesOf = <Principal>(
  options: HttpServerOptions<Principal>,
  host: string,
  port: number | undefined,
) => {
  const { allowedHosts, allowedOrigins = [], allowOwnOrigin = false, publicOrigin, tls } = options;
  const scheme = tls ? "https" : "http";
  const own = loopbackHosts(host, port, scheme);
  const ownOrigins = allowOwnOrigin ? own.map((name) => `${scheme}://${name}`) : [];
  const published = publicOrigin === undefined ? [] : [publicOrigin];
  return {
    allowedHosts: [...(allowedHosts ?? own), ...published.map((origin) => new URL(origin).host)],
    allowedOrigins: [...allowedOrigins, ...ownOrigins, ...(allowOwnOrigin ? published : [])],
  };
};

/** The names of this machine for itself, with the port. Port 80 is left out of URLs, and 443 with TLS. */
const loopbackHosts = (host: string, port: number | undefined, scheme: "http" | "https"): string[] => {
  if (port === undefined) return ["localhost"];
  const names = [...new Set(["localhost", "127.0.0.1", "[::1]", host.includes(":") ? `[${host}]` : host])];
  const withPort = names.map((name) => `${name}:${port}`);
  // A bare name would stand for any port: it is allowed where it means this one.
  return port === (scheme === "https" ? 443 : 80) ? [...withPort, ...names] : withPort;
};
