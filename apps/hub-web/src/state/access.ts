import { hubPaths, PageSessionSchema, SocketTicketSchema } from "@harnesskit/protocol/hub";

import { postJson } from "./post-json.ts";

const storageKey = "harness-hub-access";
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
  const response = await postJson(hubPaths.session, { ticket });
  return response.ok ? PageSessionSchema.parse(await response.json()).token : undefined;
};

/** Another tab of this browser that has the hub open gives its session to a tab that was opened with a link to a row. */
const askOtherTabs = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const channel = new BroadcastChannel(channelName);
    const end = (token?: string) => {
      channel.close();
      resolve(token);
    };
    channel.onmessage = ({ data }) => typeof data === "string" && data.startsWith("page.") && end(data);
    setTimeout(end, shareMs);
    channel.postMessage("session?");
  });

const shareSession = (): void => {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }) => {
    const token = sessionStorage.getItem(storageKey);
    if (data === "session?" && token !== null) channel.postMessage(token);
  };
};

/** The credential of this tab: the device's own, or a session from the link's ticket, an earlier load or another tab. */
export const openAccess = async (): Promise<Access> => {
  const pairingCode = /^#pair=([\w-]+)$/.exec(location.hash)?.[1];
  if (pairingCode !== undefined) {
    history.replaceState(null, "", location.pathname);
    return { pairingCode };
  }
  const ticket = takeTicket();
  const fresh = ticket === undefined ? undefined : await openSession(ticket);
  const kept = localStorage.getItem(storageKey) ?? sessionStorage.getItem(storageKey);
  const token = fresh ?? kept ?? (await askOtherTabs());
  if (token === undefined) return { refused: ticket === undefined ? "no_link" : "used_link" };
  keepAccess(token);
  shareSession();
  return { token };
};

/** Whether it is that of a paired device. */
export const isDeviceToken = (token: string): boolean => token.startsWith("device.");

/** Keeps a device's credential for good, and a session as long as its tab: it is not written to the disk. */
export const keepAccess = (token: string): void =>
  (isDeviceToken(token) ? localStorage : sessionStorage).setItem(storageKey, token);

/** Forgets a credential that the hub does not know any more. */
export const forgetAccess = (token: string): void => {
  for (const storage of [localStorage, sessionStorage])
    if (storage.getItem(storageKey) === token) storage.removeItem(storageKey);
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
