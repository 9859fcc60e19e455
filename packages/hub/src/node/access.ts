import { createHmac, randomBytes } from "node:crypto";
import { hubPaths, type PageSession } from "@harnesskit/protocol/hub";
import type { Authenticate, Authentication, AuthenticationRequest } from "@harnesskit/transport-http";
import { BoundedMap, type Clock } from "@harnesskit/wire";
import type { Devices } from "./devices/devices.ts";
import { isSame } from "./is-same.ts";

/** Who sent a request: the holder of the token, a page of this machine, a paired device, or anyone, who gets only the page's files. */
export interface HubPrincipal {
  readonly kind: "token" | "page" | "device" | "anyone";
  /** The id of a `device`. */
  readonly device?: string | undefined;
}

const openTicketMs = 10 * 60_000;
const socketTicketMs = 60_000;
const sessionMs = 7 * 86_400_000;
const maxTickets = 1000;

interface Ticket {
  readonly kind: "open" | "socket";
  readonly untilMs: number;
  /** The device that it was given to. */
  readonly device?: string | undefined;
}

const refused: Authentication<HubPrincipal> = { refused: "unauthorized" };
const admitted = (kind: HubPrincipal["kind"], device?: string): Authentication<HubPrincipal> => ({
  principal: { kind, device },
});

/** The origin of the page that sends a request: browsers name it with each POST and each WebSocket. */
const originOf = ({ header }: AuthenticationRequest): string | undefined => header("origin");

export interface HubAccessOptions {
  readonly token: string;
  readonly clock: Clock;
  readonly devices: Pick<Devices, "admit" | "active">;
  /** Where others reach the hub: only devices are admitted there, and whoever holds the token. */
  readonly publicOrigin: string | undefined;
}

/**
 * The credentials of a hub's HTTP server: the token, sessions of pages of this machine, which hold as long as the token does, tokens of
 * devices, and one-time tickets, so that none of these is ever in an address.
 */
export class HubAccess {
  readonly #token: string;
  readonly #clock: Clock;
  readonly #devices: Pick<Devices, "admit" | "active">;
  readonly #publicOrigin: string | undefined;
  readonly #tickets: BoundedMap<string, Ticket>;

  constructor({ token, clock, devices, publicOrigin }: HubAccessOptions) {
    this.#token = token;
    this.#clock = clock;
    this.#devices = devices;
    this.#publicOrigin = publicOrigin;
    this.#tickets = new BoundedMap({ maxSize: maxTickets });
  }

  /** A ticket for a link to the page, valid once and for ten minutes. */
  openTicket(): string {
    return this.#issue({ kind: "open" }, openTicketMs);
  }

  /** A ticket for one WebSocket, of a device or the page, valid once and for a minute. */
  socketTicket(device?: string): string {
    return this.#issue({ kind: "socket", device }, socketTicketMs);
  }

  /** The session for a ticket of a link; undefined for one that is not valid, or was used. */
  session(ticket: string): PageSession | undefined {
    if (this.#redeem("open", ticket) === undefined) return undefined;
    const expiresAtMs = this.#clock.now() + sessionMs;
    const head = `page.${expiresAtMs}.${randomBytes(16).toString("base64url")}`;
    return { token: `${head}.${this.#sign(head)}`, expiresAtMs };
  }

  readonly authenticate: Authenticate<HubPrincipal> = (request) => {
    const { path, credential, transport } = request;
    if (transport === "websocket" && path === hubPaths.api) return this.#socket(request);
    if (path === hubPaths.ahp) return this.#holdsToken(credential?.secret) ? admitted("token") : refused;
    if (credential === undefined) {
      return path === hubPaths.ticket || path === hubPaths.open ? refused : admitted("anyone");
    }
    if (this.#holdsToken(credential.secret)) return admitted("token");
    if (path === hubPaths.open) return refused;
    if (credential.secret.startsWith("device.")) return this.#device(request, credential.secret);
    return this.#isSession(credential.secret) && !this.#isPublic(request) ? admitted("page") : refused;
  };

  #device(request: AuthenticationRequest, token: string): Authentication<HubPrincipal> {
    const found = this.#devices.admit(token, originOf(request));
    return "refused" in found ? refused : admitted("device", found.id);
  }

  /** Whether a request comes to the hub from elsewhere. */
  #isPublic(request: AuthenticationRequest): boolean {
    if (this.#publicOrigin === undefined) return false;
    const host = request.header("host");
    return originOf(request) === this.#publicOrigin || host === new URL(this.#publicOrigin).host;
  }

  #socket(request: AuthenticationRequest): Authentication<HubPrincipal> {
    const { credential } = request;
    if (credential === undefined) return refused;
    // An address is written into logs: only a ticket may be in it.
    if (credential.from === "query") {
      const ticket = this.#redeem("socket", credential.secret);
      if (ticket === undefined) return refused;
      if (ticket.device === undefined) return this.#isPublic(request) ? refused : admitted("page");
      const device = this.#devices.active(ticket.device);
      return device?.origin === originOf(request) ? admitted("device", ticket.device) : refused;
    }
    return this.#holdsToken(credential.secret) ? admitted("token") : refused;
  }

  #holdsToken(given: string | undefined): boolean {
    return given !== undefined && isSame(given, this.#token);
  }

  #isSession(given: string): boolean {
    const [kind = "", until = "", nonce = "", signature = ""] = given.split(".");
    const head = `${kind}.${until}.${nonce}`;
    return kind === "page" && isSame(signature, this.#sign(head)) && this.#clock.now() < Number(until);
  }

  #sign(head: string): string {
    return createHmac("sha256", this.#token).update(head).digest("base64url");
  }

  #issue(ticket: Pick<Ticket, "kind" | "device">, forMs: number): string {
    const secret = randomBytes(32).toString("base64url");
    this.#tickets.set(secret, { ...ticket, untilMs: this.#clock.now() + forMs });
    return secret;
  }

  #redeem(kind: Ticket["kind"], secret: string): Ticket | undefined {
    const found = this.#tickets.get(secret);
    if (found === undefined || found.kind !== kind) return undefined;
    this.#tickets.delete(secret);
    return this.#clock.now() < found.untilMs ? found : undefined;
  }
}
