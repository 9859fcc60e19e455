import { randomId } from "@harnesskit/wire";

/** Which engine this tab talks with, as whom, and in which session. */
export interface Access {
  /** The whole URL. */
  readonly engine: string;
  readonly token: string | undefined;
  readonly sessionId: string;
}

/** Where a page keeps texts: `sessionStorage` and `localStorage` are two. */
export type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export interface AccessPlaces {
  /** This tab's: the token stays here, and ends with the tab. */
  readonly tab: Shelf;
  /** This browser's: which session an engine had last. */
  readonly browser: Shelf;
}

const accessKey = "web-shell/access";
const lastKey = (engine: string): string => `web-shell/last/${engine}`;

const isLocalHost = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/** The engine's URL, where a token may be sent to it: encrypted, on this machine, or where the page itself is from. */
const engineUrl = (text: string, page: string): string | undefined => {
  if (!URL.canParse(text, page)) return undefined;
  const url = new URL(text, page);
  if (url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  const isSafe =
    url.protocol === "https:" ||
    (url.protocol === "http:" && (isLocalHost(url.hostname) || url.origin === new URL(page).origin));
  return isSafe ? url.href : undefined;
};

const isToken = (text: string): boolean => /^[\x21-\x7e]{1,4096}$/.test(text);
const isSessionId = (text: string): boolean => text !== "" && text.length <= 200;

/** What the fragment `#engine=…&token=…&session=…` says. A query is never looked at: it ends up in logs. */
const readFragment = (
  fragment: string,
  page: string,
): { engine: string; token: string | undefined; session: string | undefined } | undefined => {
  const fields = new URLSearchParams(fragment.replace(/^#/, "").replaceAll("+", "%2B"));
  const engine = engineUrl(fields.get("engine") ?? "", page);
  if (!fields.has("engine") || engine === undefined) return undefined;
  const token = fields.get("token") ?? undefined;
  const session = fields.get("session") ?? undefined;
  if (token !== undefined && !isToken(token)) return undefined;
  if (session !== undefined && !isSessionId(session)) return undefined;
  return { engine, token, session };
};

/** The ticket of `#ticket=…`, with which the page's own server gives the access: then no token is in the link. */
export const ticketIn = (fragment: string): string | undefined =>
  /^#ticket=([\w-]{1,200})$/.exec(fragment)?.[1];

/** What the ticket stands for, as a fragment that names engine and token; `#` where the server does not take it. */
export const redeemTicket = async (ticket: string): Promise<string> => {
  history.replaceState(null, "", location.pathname);
  const response = await fetch("./page/session", { method: "POST", body: ticket });
  if (!response.ok) return "#";
  const { engine, token } = (await response.json()) as { readonly engine: string; readonly token?: string };
  const access = new URLSearchParams({ engine });
  if (token !== undefined) access.set("token", token);
  return `#${access}`;
};

/** A session name that cannot be guessed. */
export const newSessionId = (): string => randomId("sess");

const readKept = (tab: Shelf, page: string): Access | undefined => {
  try {
    const { engine, token, sessionId } = JSON.parse(tab.getItem(accessKey) ?? "{}") as Partial<Access>;
    const url = typeof engine === "string" ? engineUrl(engine, page) : undefined;
    if (url === undefined || typeof sessionId !== "string" || !isSessionId(sessionId)) return undefined;
    return { engine: url, token: typeof token === "string" && isToken(token) ? token : undefined, sessionId };
  } catch {
    return undefined;
  }
};

/** Keeps the access for a reload of the tab. */
export const keepAccess = (access: Access, { tab, browser }: AccessPlaces): void => {
  tab.setItem(accessKey, JSON.stringify(access));
  browser.setItem(lastKey(access.engine), access.sessionId);
};

/**
 * The access that the fragment gives, else the one of before the reload. A link without a session goes on with the one
 * that the engine had last in this browser. Undefined without one, `invalid` where the fragment names a session that cannot
 * be used.
 */
export const openAccess = (
  { fragment, page }: { readonly fragment: string; readonly page: string },
  places: AccessPlaces,
): Access | "invalid" | undefined => {
  if (fragment.replace("#", "") === "") return readKept(places.tab, page);
  const found = readFragment(fragment, page);
  if (found === undefined) return "invalid";
  const { engine, token, session } = found;
  const last = places.browser.getItem(lastKey(engine)) ?? "";
  const access = { engine, token, sessionId: session ?? (isSessionId(last) ? last : newSessionId()) };
  keepAccess(access, places);
  return access;
};
