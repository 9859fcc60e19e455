import { hubPaths, PageSessionSchema, SocketTicketSchema } from "@harnesskit/protocol/hub";

import { deviceToken, forgetDevice, takePairingCode } from "../devices/device-token.ts";

const storageKey = "harness-hub-session";
const channelName = "harness-hub";
/** How long the other tabs of this browser have to share their session. */
const shareMs = 300;

/** The session of the page, or why it is missing. */
export type Access =
  | { readonly token: string }
  | { readonly pairingCode: string }
  | { readonly refused: "no_link" | "used_link" };

/** Takes `#ticket=…` out of the address bar; what follows stays a link within the page. */
const takeTicket = (): string | undefined => {
  const match = /^#ticket=([^&]*)(?:&to=(.*))?$/.exec(location.hash);
  if (match === null) return undefined;
  history.replaceState(
    null,
    "",
    match[2] === undefined ? location.pathname : `#/${match[2].replace(/^\/*/, "")}`,
  );
  return match[1];
};

const openSession = async (ticket: string): Promise<string | undefined> => {
  const response = await fetch(hubPaths.session, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ticket }),
  });
  return response.ok ? PageSessionSchema.parse(await response.json()).token : undefined;
};

/** Another tab of this browser that has the hub open gives its session to a tab that was opened with a link to a row. */
const askOtherTabs = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const channel = new BroadcastChannel(channelName);
    const end = (token?: string) => {
      clearTimeout(timer);
      channel.close();
      resolve(token);
    };
    const timer = setTimeout(end, shareMs);
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === "object" && data !== null && "token" in data && typeof data.token === "string")
        end(data.token);
    };
    channel.postMessage("session?");
  });

const shareSession = (token: string): void => {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === "session?" && sessionStorage.getItem(storageKey) === token) channel.postMessage({ token });
  };
};

/** The credential of this tab: the device's own, or a session from the link's ticket, an earlier load or another tab. */
export const openAccess = async (): Promise<Access> => {
  const pairingCode = takePairingCode();
  if (pairingCode !== undefined) return { pairingCode };
  const ticket = takeTicket();
  const fresh = ticket === undefined ? undefined : await openSession(ticket);
  const device = deviceToken();
  if (fresh === undefined && device !== undefined) return { token: device };
  const token = fresh ?? sessionStorage.getItem(storageKey) ?? (await askOtherTabs());
  if (token === undefined) return { refused: ticket === undefined ? "no_link" : "used_link" };
  sessionStorage.setItem(storageKey, token);
  shareSession(token);
  return { token };
};

/** Forgets a credential that the hub does not know any more. */
export const forgetAccess = (token: string): void => {
  if (deviceToken() === token) forgetDevice();
  else sessionStorage.removeItem(storageKey);
};

/** A ticket for one connection; undefined if the hub does not know the session any more. Rejects if the hub cannot be reached. */
export const socketTicket = async (token: string): Promise<string | undefined> => {
  const response = await fetch(hubPaths.ticket, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status === 401 || response.status === 403) return undefined;
  if (!response.ok) throw new TypeError(`the hub answered ${response.status}`);
  return SocketTicketSchema.parse(await response.json()).ticket;
};
