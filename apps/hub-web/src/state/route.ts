import { Store } from "./store.ts";

export const pages = ["inbox", "timeline", "agents", "policy", "grants", "devices"] as const;
export type PageName = (typeof pages)[number];

/** What the timeline shows. */
export interface TimelineFilter {
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly tool?: string | undefined;
  readonly decision?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly text?: string | undefined;
  /** Times of ISO 8601; `until` is not included. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** A session, or a turn of it, that is read as a conversation. */
export interface Run {
  readonly agent: string;
  readonly session: string;
  readonly turn?: string | undefined;
}

export interface Route {
  readonly page: PageName;
  /** The approval or row that is open. */
  readonly id?: string | undefined;
  /** The conversation that is open beside the timeline, in the place of a row. */
  readonly run?: Run | undefined;
  readonly filter: TimelineFilter;
}

const textFields = ["agent", "session", "tool", "decision", "text", "since", "until"] as const;
const isTime = (name: string): boolean => name === "since" || name === "until";

const readFilter = (query: URLSearchParams): TimelineFilter => {
  const filter: Record<string, string | boolean> = {};
  for (const name of textFields) {
    const value = query.get(name);
    if (value === null || value === "" || (isTime(name) && Number.isNaN(Date.parse(value)))) continue;
    filter[name] = value;
  }
  if (query.has("failed")) filter.failed = true;
  return filter;
};

/** Unlike `decodeURIComponent` it throws for nothing. */
const decode = (part: string): string => new URLSearchParams(`x=${part}`).get("x") ?? "";

/** Reads `#/timeline/ROW?agent=codex` and `#/timeline/run/AGENT/SESSION/TURN`. What it cannot read is the inbox. */
export const readRoute = (hash: string): Route => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name, id, agent, session, turn] = path.split("/").map(decode);
  const page = pages.find((each) => each === name) ?? "inbox";
  const filter = readFilter(new URLSearchParams(query));
  if (page === "timeline" && id === "run" && agent !== undefined && session !== undefined)
    return { page, run: { agent, session, turn }, filter };
  return id === undefined || id === "" ? { page, filter } : { page, id, filter };
};

/** The reverse of `readRoute`: a link within the page. */
export const routeHash = ({ page, id, run, filter }: Route): string => {
  const query = new URLSearchParams();
  for (const name of textFields) {
    const value = filter[name];
    if (value !== undefined && value !== "") query.set(name, value);
  }
  if (filter.failed) query.set("failed", "1");
  const search = query.size === 0 ? "" : `?${query}`;
  const open = run === undefined ? [id] : ["run", run.agent, run.session, run.turn];
  const parts = [page, ...open.flatMap((part) => (part === undefined ? [] : encodeURIComponent(part)))];
  return `#/${parts.join("/")}${search}`;
};

/** The route that the address bar shows. */
export class Router {
  readonly route: Store<Route>;

  constructor() {
    this.route = new Store(readRoute(location.hash));
    window.addEventListener("hashchange", () => this.#take(readRoute(location.hash)));
  }

  #take(route: Route): void {
    if (routeHash(route) !== routeHash(this.route.value)) this.route.set(route);
  }

  /** Goes to another route; what is not named stays, except the open item of another page. */
  go(change: Partial<Route>, { replace = false } = {}): void {
    const { page, id, run, filter } = this.route.value;
    const isOther = change.page !== undefined && change.page !== page;
    const open = isOther || "id" in change || "run" in change ? {} : { id, run };
    const route: Route = { page, filter, ...open, ...change };
    const hash = routeHash(route);
    if (hash !== location.hash) {
      if (replace) history.replaceState(null, "", hash);
      else history.pushState(null, "", hash);
    }
    this.#take(route);
  }
}
