import { createHubClient, type HubClient, type HubIntroduction } from "@harnesskit/hub/client";
import { hubPaths } from "@harnesskit/protocol/hub";
import { createWebSocketTransport } from "@harnesskit/transport-http";
import { type Transport, TransportError } from "@harnesskit/wire";
import { forgetAccess, socketTicket } from "./access.ts";
import { Store } from "./store.ts";

/**
 * `connecting`: for the first time; `away`: lost and tried again; `denied`: the hub does not know this page's session any more;
 * `outdated`: the hub speaks another version of its API than the page.
 */
export type LinkState = "connecting" | "ready" | "away" | "denied" | "outdated";

export type Hello = HubIntroduction;

/** The page's way to the hub, over any number of connections. */
export interface HubLink {
  readonly client: HubClient;
  readonly state: Store<LinkState>;
  /** What the hub said of itself, last. */
  readonly hello: Store<Hello | undefined>;
}

const reconnect = { maxAttempts: Number.POSITIVE_INFINITY, initialDelayMs: 200, maxDelayMs: 3000 };

/** A WebSocket to the hub, with a ticket of its own for each: the token itself is in no URL. */
const ticketTransport = (token: string, onDenied: () => void): Transport => ({
  async connect(options) {
    const ticket = await socketTicket(token).catch((cause: unknown) => {
      throw new TransportError("the hub cannot be reached", { cause });
    });
    if (ticket === undefined) {
      onDenied();
      throw new TransportError("the hub does not know the session of this page any more");
    }
    const url = new URL(hubPaths.api, location.origin);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = createWebSocketTransport({ url, credentials: { bearer: ticket }, credentialsIn: "query" });
    return socket.connect(options);
  },
});

/** Connects, and goes on as long as the page is open and its session is known. */
export const openHubLink = (token: string): HubLink => {
  const state = new Store<LinkState>("connecting");
  const hello = new Store<Hello | undefined>(undefined);
  const end = (reason: "denied" | "outdated") => {
    state.set(reason);
    void client.close();
  };
  const client = createHubClient({
    client: { name: "page" },
    transport: ticketTransport(token, () => {
      forgetAccess(token);
      end("denied");
    }),
    reconnect,
    requestTimeoutMs: 20_000,
    onState: (session) => {
      if (state.value === "denied" || state.value === "outdated") return;
      if (session === "ready") {
        hello.set(client.introduction);
        state.set("ready");
      } else if (session === "reconnecting") state.set("away");
    },
    onError: (error) => {
      if (error.code === "version_mismatch") end("outdated");
      else if (state.value === "connecting") state.set("away");
    },
  });
  // Why it failed for good was reported above.
  client.connect({ retry: true }).catch(() => undefined);
  return { client, state, hello };
};
