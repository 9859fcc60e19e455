import { hubPaths, PageSessionSchema, SocketTicketSchema } from "@harnesskit/protocol/hub";

import { postJson } from "./post-json.ts";

const storageKey = "harness-hub-access";

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

/** The credential of this browser: the device's own, or a session from the link's ticket or from an earlier page. */
export const openAccess = async (): Promise<Access> => {
  const pairingCode = /^#pair=([\w-]+)$/.exec(location.hash)?.[1];
  if (pairingCode !== undefined) {
    history.replaceState(null, "", location.pathname);
    return { pairingCode };
  }
  const ticket = takeTicket();
  const fresh = ticket === undefined ? undefined : await openSession(ticket);
  const token = fresh ?? localStorage.getItem(storageKey);
  if (token === null) return { refused: ticket === undefined ? "no_link" : "used_link" };
  keepAccess(token);
  return { token };
};

/** Keeps a credential for all tabs of this browser. */
export const keepAccess = (token: string): void => localStorage.setItem(storageKey, token);

/** Whether it is that of a paired device. */
export const isDeviceToken = (token: string): boolean => token.startsWith("device.");

/** Forgets a credential that the hub does not know any more. */
export const forgetAccess = (token: string): void => {
  if (localStorage.getItem(storageKey) === token) localStorage.removeItem(storageKey);
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
