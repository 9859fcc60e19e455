import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { hubPaths, type PageSession } from "@harnesskit/protocol/hub";
import type { Authenticate, Authentication, AuthenticationRequest } from "@harnesskit/transport-http";
import { BoundedMap, type Clock } from "@harnesskit/wire";

/** Who sent a request: the holder of the token, a page, or anyone, who gets only the page's files. */
export interface HubPrincipal {
  readonly kind: "token" | "page" | "anyone";
}

const openTicketMs = 10 * 60_000;
const socketTicketMs = 60_000;
const sessionMs = 7 * 86_400_000;
const maxTickets = 1000;

/** Compares secrets in a time that does not tell where they differ. */
export const isSame = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
};

type TicketKind = "open" | "socket";

const refused: Authentication<HubPrincipal> = { refused: "unauthorized" };
const admitted = (kind: HubPrincipal["kind"]): Authentication<HubPrincipal> => ({ principal: { kind } });

/**
 * The credentials of a hub's HTTP server: the token, sessions of pages, which hold as long as the token does, and one-time tickets, so
 * that neither the token nor a session is ever in an address.
 */
export class HubAccess {
  readonly #token: string;
  readonly #clock: Clock;
  readonly #tickets: BoundedMap<string, { readonly kind: TicketKind; readonly untilMs: number }>;

  constructor(token: string, clock: Clock) {
    this.#token = token;
    this.#clock = clock;
    this.#tickets = new BoundedMap({ maxSize: maxTickets });
  }

  /** A ticket for a link to the page, valid once and for ten minutes. */
  openTicket(): string {
    return this.#issue("open", openTicketMs);
  }

  /** A ticket for one WebSocket, valid once and for a minute. */
  socketTicket(): string {
    return this.#issue("socket", socketTicketMs);
  }

  /** The session for a ticket of a link; undefined for one that is not valid, or was used. */
  session(ticket: string): PageSession | undefined {
    if (!this.#redeem("open", ticket)) return undefined;
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
    return path !== hubPaths.open && this.#isSession(credential.secret) ? admitted("page") : refused;
  };

  #socket({ credential }: AuthenticationRequest): Authentication<HubPrincipal> {
    if (credential === undefined) return refused;
    // An address is written into logs: only a ticket may be in it.
    if (credential.from === "query")
      return this.#redeem("socket", credential.secret) ? admitted("page") : refused;
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

  #issue(kind: TicketKind, forMs: number): string {
    const ticket = randomBytes(32).toString("base64url");
    this.#tickets.set(ticket, { kind, untilMs: this.#clock.now() + forMs });
    return ticket;
  }

  #redeem(kind: TicketKind, ticket: string): boolean {
    const found = this.#tickets.get(ticket);
    if (found === undefined || found.kind !== kind) return false;
    this.#tickets.delete(ticket);
    return this.#clock.now() < found.untilMs;
  }
}
