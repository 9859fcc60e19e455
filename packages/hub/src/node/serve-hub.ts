import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { ApprovalRecord } from "@harnesskit/approvals";
import type { AuditEntryInput } from "@harnesskit/audit";
import {
  acquireFileLock,
  type FileLock,
  makeDirectory,
  readOwnFile,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { hubPaths } from "@harnesskit/protocol/hub";
import {
  createHttpServer,
  type FallbackHandler,
  type HttpServer,
  type HttpServerOptions,
  type WebSocketContext,
} from "@harnesskit/transport-http/node";
import { createUnixListener } from "@harnesskit/transport-uds";
import { type Channel, type Clock, displayText, HarnessError, systemClock } from "@harnesskit/wire";
import type { Hub } from "../hub-options.ts";
import { checkServeHubOptions } from "../option-names.ts";
import type { HubPlace } from "../place.ts";
import { HubAccess, type HubPrincipal } from "./access.ts";
import { createAnswerHandler } from "./answer-handler.ts";
import { type AnswerLinkOptions, AnswerLinks } from "./answer-links.ts";
import { Devices } from "./devices/devices.ts";
import { PageFiles } from "./page-files.ts";
import { createPageHandler } from "./page-handler.ts";
import { tlsPlace } from "./tls-place.ts";
import { openToken } from "./token.ts";

export interface ServeHubOptions {
  /** A hub that has been started. The caller closes it after `close` of the result. */
  readonly hub: Hub;
  /** See `hubPlace` of `@harnesskit/hub/place`. */
  readonly place: HubPlace;
  /**
   * The port for HTTP and WebSocket on loopback; 0: the system chooses. @default the port of the hub that ran here last, so that open
   * pages, bookmarks and links stay valid; if another program uses it, the system chooses, and `onError` receives why
   */
  readonly port?: number | undefined;
  /**
   * The URL of a proxy or tunnel in front of the hub, such as `https://hub.example.org`. Its host and origin are allowed, and the hub's
   * links begin with it. @default loopback only
   */
  readonly publicUrl?: string | undefined;
  /**
   * A certificate and its key in PEM. The hub then serves its page itself, on the port of `publicUrl`, which must be an `https:` URL:
   * at its IP address, or, if it names a host, at all addresses of this machine. Agents are served on loopback only.
   * @default none: a proxy or tunnel does TLS
   */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** The key of the hub that push services know (VAPID, base64url), so that devices can ask for pushes. @default no pushes */
  readonly pushKey?: string | undefined;
  /** The directory of the page's built files. @default that of this package */
  readonly pageDirectory?: string | undefined;
  /** The user's name, as answers record it. @default the user of this process */
  readonly user?: string | undefined;
  /** More handlers of HTTP requests, by path: only requests with the token reach them. @default none */
  readonly handlers?: Readonly<Record<string, FallbackHandler<HubPrincipal>>> | undefined;
  /** Records requests that were refused for their host, origin or credentials. @default nowhere */
  readonly audit?: ((entry: AuditEntryInput) => void) | undefined;
  /** Receives errors that no request reports. @default ignored */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** A hub that is served. */
export interface ServedHub extends AsyncDisposable {
  /** `http://127.0.0.1:41234` */
  readonly url: string;
  /** A link to the page for a browser of this machine. It works once and for ten minutes: its ticket is in the fragment, which no server sees. */
  openLink(): string;
  /** The page with an approval, or its inbox. Whoever opens it needs to be signed in. */
  pageLink(id?: string): string;
  /** A link that answers one approval, once and for a short time: its token is in the fragment, which no server sees. */
  answerLink(record: ApprovalRecord, options: AnswerLinkOptions): string;
  /** Pairs, lists and revokes devices, and says where their pushes go. */
  readonly devices: Pick<Devices, "list" | "pair" | "revoke" | "subscribe" | "subscriptions" | "onChange">;
  /** Takes nothing new, answers what is held, closes connections and removes sockets. Leaves the hub and its stores open. Idempotent. */
  close(): Promise<void>;
}

/** The directory of the built page in this package, also in a bundle. */
const pageOfPackage = (): string =>
  join(dirname(createRequire(import.meta.url).resolve("@harnesskit/hub/package.json")), "page");

const maxShownLength = 300;

type Refusal = Parameters<NonNullable<HttpServerOptions<HubPrincipal>["onRefused"]>>[0];

/** The state's directory is locked while its hub runs. Rejects with `file_locked`. */
const lockOf = async ({ directory }: HubPlace): Promise<FileLock> => {
  await makeDirectory(directory);
  return acquireFileLock(`${directory}/hub.lock`);
};

/** The port of the hub that ran here last; 0 where none did. */
const formerPort = async ({ serverFile }: HubPlace): Promise<number> => {
  try {
    const text = (await readOwnFile(serverFile, { maxBytes: 4096 })).toString("utf8");
    return Number(new URL((JSON.parse(text) as { url: string }).url).port);
  } catch {
    return 0;
  }
};

const isInUse = (error: unknown): boolean =>
  HarnessError.isInstance(error) && error.code === "address_in_use";

/**
 * Serves a hub on two Unix sockets, for agents and for its own API, and on HTTP and WebSocket on loopback for both and for the page.
 * Rejects with `file_locked` if another hub runs at `place`, with `invalid_argument` for invalid options, and with `insecure_directory`, `insecure_token_file`,
 * `address_in_use`, `path_too_long` and `transport_failed`.
 */
export const serveHub = async (options: ServeHubOptions): Promise<ServedHub> => {
  checkServeHubOptions(options);
  const { hub, place, publicUrl, tls, pushKey, clock = systemClock, audit = () => {} } = options;
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const { pageDirectory = pageOfPackage(), handlers = {}, onError = () => {} } = options;
  const user = displayText(options.user ?? userInfo().username, { maxLength: 100 });
  const open: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of open.reverse().splice(0)) await close().catch(onError);
  };
  const recordRefusal = (details: Readonly<Record<string, string | number | undefined>>) => {
    const shown = Object.entries(details).map(([name, value]) => [
      name,
      typeof value === "string" ? displayText(value, { maxLength: maxShownLength }) : value,
    ]);
    audit({ action: "hub.request", outcome: "refused", details: Object.fromEntries(shown) });
  };
  try {
    const lock = await lockOf(place);
    open.push(() => lock.release());
    const token = await openToken(place.tokenFile);
    const devices = await Devices.open({
      path: place.devicesFile,
      origin: publicOrigin,
      clock,
      audit: (what, outcome, details) => audit({ action: `hub.device.${what}`, outcome, details }),
      onError,
    });
    const access = new HubAccess({ token, clock, devices, publicOrigin });
    const links = new AnswerLinks(token, clock);
    const onRefusedPath = (path: string) => recordRefusal({ status: 401, path });
    const local = { user, devices };
    const connectClient = (channel: Channel<WebSocketContext<HubPrincipal>>): void => {
      const { kind, device: id = "" } = channel.context.principal;
      if (kind !== "device") {
        hub.connectClient(channel, local);
        return;
      }
      // It was active when its ticket was taken, in the same turn.
      hub.connectClient(channel, { ...local, device: devices.active(id), pushKey });
      devices.connected(id, channel);
    };
    const listen = async (path: string, connect: (channel: Channel) => void): Promise<void> => {
      const listener = createUnixListener({ path, framing: "newline", onError });
      open.push(() => listener.close());
      await listener.listen(connect);
    };
    await listen(place.socket, (channel) => hub.connectAgent(channel, "unix"));
    await listen(place.apiSocket, (channel) => hub.connectClient(channel, local));
    const common = {
      authenticate: access.authenticate,
      fallback: createPageHandler({
        access,
        devices,
        files: new PageFiles(pageDirectory),
        handlers,
        answers: createAnswerHandler({ hub, links, onRefused: onRefusedPath }),
        onRefused: onRefusedPath,
      }),
      onRefused: ({ status, transport, path, remoteAddress, host, origin }: Refusal) =>
        recordRefusal({ status, transport, path, remote: remoteAddress, host, origin }),
      onError,
      clock,
    };
    const listenApi = async (server: HttpServer<HubPrincipal>): Promise<string> => {
      open.push(() => server.close());
      await server.webSocketListener({ path: hubPaths.api }).listen(connectClient);
      await server.listen();
      return server.url ?? "";
    };
    const listenHttp = async (port: number): Promise<string> => {
      const server = createHttpServer<HubPrincipal>({
        ...common,
        port,
        allowOwnOrigin: true,
        publicOrigin,
        routes: { [hubPaths.ahp]: hub.exchange },
      });
      await server
        .webSocketListener({ path: hubPaths.ahp })
        .listen((channel) => hub.connectAgent(channel, "websocket"));
      return listenApi(server);
    };
    const url = await listenHttp(options.port ?? (await formerPort(place))).catch((error: unknown) => {
      if (options.port !== undefined || !isInUse(error)) throw error;
      onError(error);
      return listenHttp(0);
    });
    if (tls !== undefined)
      await listenApi(createHttpServer<HubPrincipal>({ ...common, ...tlsPlace(publicUrl), tls }));
    await writeFileAtomic(place.serverFile, `${JSON.stringify({ url, pid: process.pid })}\n`);
    const base = (publicUrl ?? url).replace(/\/+$/, "");
    let closing: Promise<void> | undefined;
    return {
      url,
      pageLink: (id) => `${base}/#/inbox${id === undefined ? "" : `/${encodeURIComponent(id)}`}`,
      answerLink: (record, options) => `${base}${hubPaths.answerPage}#${links.token(record, options)}`,
      openLink: () => `${url}/#ticket=${access.openTicket()}`,
      devices,
      close() {
        closing ??= closeAll();
        return closing;
      },
      [Symbol.asyncDispose]() {
        closing ??= closeAll();
        return closing;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
};
