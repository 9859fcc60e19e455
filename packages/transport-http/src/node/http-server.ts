import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Clock,
  ConnectionClosedError,
  InvalidArgumentError,
  type Listener,
  systemClock,
} from "@harnesskit/wire";
import { checkNodeHttpServerOptions } from "../option-names.ts";
import { type Authenticate, createTokenAuthenticate, type TokenPrincipal } from "../server/authenticate.ts";
import { ExchangeCore } from "../server/exchange-core.ts";
import { createSiteGuard } from "../server/site-rules.ts";
import { bindServer, createNodeServer, hostAndPort } from "./node-server.ts";
import { type HttpServerOptions, resolveServerOptions, siteRulesOf } from "./server-options.ts";
import { type TokenFile, writeTokenFile } from "./token-file.ts";
import { Traffic } from "./traffic.ts";
import {
  type WebSocketContext,
  WebSocketEndpoint,
  type WebSocketListenerOptions,
} from "./web-socket-listener.ts";

/** A server of exchanges and WebSockets on one port. */
export interface HttpServer<Principal = TokenPrincipal> extends AsyncDisposable {
  /**
   * Binds and serves. Rejects with `address_in_use`, `insecure_token_file`, `transport_failed`, `connection_closed`
   * (closed meanwhile) and `invalid_argument` (a second time).
   */
  listen(): Promise<void>;
  /**
   * The WebSockets of one path. Its `listen` takes them from then on; its `close` closes them (1001) and gives the
   * path up, and so does the server's. Throws `invalid_argument`, also for a path that has a listener.
   */
  webSocketListener(options: WebSocketListenerOptions): Listener<WebSocketContext<Principal>>;
  /** `http://127.0.0.1:41234`. Undefined before `listen`. */
  readonly url: string | undefined;
  /** `ws://127.0.0.1:41234`. Undefined before `listen`. */
  readonly webSocketUrl: string | undefined;
  readonly port: number | undefined;
  /** Where the token lies that was made. Undefined before `listen`, and where none was made. */
  readonly tokenFile: string | undefined;
  /** Connections at the moment. */
  readonly connections: number;
  /** Messages that are being read or handled. */
  readonly inFlight: number;
  /**
   * Takes nothing new, answers what is handled, within `graceMs`, closes all connections and removes the token's
   * file. Idempotent. Nothing keeps the process alive then.
   */
  close(): Promise<void>;
}

const refuseAll: Authenticate<never> = () => ({ refused: "unauthorized" });

class NodeHttpServer<Principal> implements HttpServer<Principal> {
  readonly #options: HttpServerOptions<Principal>;
  readonly #resolved: ReturnType<typeof resolveServerOptions>;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #core: ExchangeCore<Principal>;
  readonly #traffic: Traffic<Principal>;
  readonly #endpoints = new Map<string, WebSocketEndpoint<Principal>>();
  #authenticate: Authenticate<Principal>;
  #tokenFile: TokenFile | undefined;
  #address: AddressInfo | undefined;
  #listening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions<Principal>) {
    const { tls, routes = {}, fallback, clock = systemClock, token, authenticate } = options;
    this.#options = options;
    this.#resolved = resolveServerOptions(options);
    this.#clock = clock;
    this.#authenticate = authenticate ?? (token === undefined ? refuseAll : this.#byToken(token));
    const { host, limits } = this.#resolved;
    // Everything that does not depend on the port is judged now and not first when it listens.
    this.#core = new ExchangeCore<Principal>({
      ...options,
      ...siteRulesOf(options, host, undefined),
      routes,
      limits,
      authenticate: authenticate ?? ((request) => this.#authenticate(request)),
    });
    this.#server = createNodeServer(limits, tls);
    this.#traffic = new Traffic(this.#server, this.#core, {
      isTls: tls !== undefined,
      fallback,
      endpoints: this.#endpoints,
      keepAliveMs: limits.keepAliveMs,
      clock,
    });
  }

  get url(): string | undefined {
    return this.#urlOf(this.#options.tls ? "https" : "http");
  }

  get webSocketUrl(): string | undefined {
    return this.#urlOf(this.#options.tls ? "wss" : "ws");
  }

  get port(): number | undefined {
    return this.#address?.port;
  }

  get tokenFile(): string | undefined {
    return this.#tokenFile?.path;
  }

  get connections(): number {
    return this.#traffic.size;
  }

  get inFlight(): number {
    return this.#core.inFlight;
  }

  listen(): Promise<void> {
    if (this.#listening !== undefined || this.#closing !== undefined)
      return Promise.reject(new InvalidArgumentError("a server listens once"));
    this.#listening = this.#listen();
    return this.#listening;
  }

  webSocketListener(options: WebSocketListenerOptions): Listener<WebSocketContext<Principal>> {
    if (this.#endpoints.has(options.path)) {
      throw new InvalidArgumentError(`the path ${options.path} has a WebSocket listener already`);
    }
    const endpoint = new WebSocketEndpoint<Principal>(options, this.#clock, () =>
      this.#endpoints.delete(options.path),
    );
    this.#endpoints.set(options.path, endpoint);
    this.#traffic.takeUpgrades();
    return endpoint;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #urlOf(scheme: string): string | undefined {
    return this.#address && `${scheme}://${hostAndPort(this.#resolved.host, this.#address.port)}`;
  }

  /** Without `authenticate`, the principal is the token's. */
  #byToken(token: string): Authenticate<Principal> {
    return createTokenAuthenticate(token) as Authenticate<unknown> as Authenticate<Principal>;
  }

  async #listen(): Promise<void> {
    const { host, port } = this.#resolved;
    const { token, tokenFile, authenticate, onError } = this.#options;
    try {
      if (token === undefined && authenticate === undefined) {
        this.#tokenFile = await writeTokenFile(tokenFile);
        this.#authenticate = this.#byToken(this.#tokenFile.token);
      }
      if (this.#closing !== undefined)
        throw new ConnectionClosedError("the server was closed while it was opened");
      this.#address = await bindServer(this.#server, host, port, (error) =>
        onError?.(error, { path: "", transport: "http" }),
      );
      this.#core.guard = createSiteGuard(siteRulesOf(this.#options, host, this.#address.port));
    } catch (error) {
      await this.#tokenFile?.remove();
      throw error;
    }
  }

  async #close(): Promise<void> {
    await this.#listening?.catch(() => {});
    this.#traffic.stop();
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const cut = () => this.#traffic.destroyAll();
    // A connection that is not read keeps no process alive, and the caller of close has more to do after it.
    const cancelTimer = this.#clock.after(this.#resolved.limits.graceMs, cut, true);
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.close()));
    this.#traffic.closeIdle();
    await stopped;
    cancelTimer();
    await this.#tokenFile?.remove();
  }
}

/**
 * Makes a server on `node:http`: exchanges by POST and WebSockets, on this machine only unless more is asked for. A
 * token is always needed; where neither a token nor `authenticate` is given, one is created and written to a file. Throws
 * `invalid_argument`.
 */
export const createHttpServer = <Principal = TokenPrincipal>(
  options: HttpServerOptions<Principal> = {},
): HttpServer<Principal> => new NodeHttpServer(checkNodeHttpServerOptions(options));
