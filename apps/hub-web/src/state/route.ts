import { Store } from "./store.ts";

export const pages = ["inbox", "timeline", "agents", "policy", "grants", "devices"] as const;
export type PageName = (typeof pages)[number];

/** What the timeline shows. */
export interface TimelineFilter {
  readonly agent?: string;
  readonly session?: string;
  readonly turn?: string;
  readonly tool?: string;
  readonly decision?: string;
  readonly failed?: boolean;
  readonly text?: string;
  /** Times of ISO 8601; `until` is not included. */
  readonly since?: string;
  readonly until?: string;
}

/** In the place of a row's id: the run of the filter's agent, session and turn, as a conversation. */
export const runId = "run";

export interface Route {
  readonly page: PageName;
  /** The approval or row that is open. */
  readonly id?: string | undefined;
  readonly filter: TimelineFilter;
}

const textFields = ["agent", "session", "turn", "tool", "decision", "text", "since", "until"] as const;
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

const decode = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
};

/** Reads `#/timeline/ROW?agent=codex`. What it cannot read is the inbox. */
export const readRoute = (hash: string): Route => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name, id] = path.split("/", 2);
  const page = pages.find((each) => each === name) ?? "inbox";
  const filter = readFilter(new URLSearchParams(query));
  const shown = id === undefined || id === "" ? undefined : decode(id);
  return shown === undefined ? { page, filter } : { page, id: shown, filter };
};

/** The reverse of `readRoute`: a link within the page. */
export const routeHash = ({ page, id, filter }: Route): string => {
  const query = new URLSearchParams();
  for (const name of textFields) {
    const value = filter[name];
    if (value !== undefined && value !== "") query.set(name, value);
  }
  if (filter.failed) query.set("failed", "1");
  const search = query.size === 0 ? "" : `?${query}`;
  return `#/${page}${id === undefined ? "" : `/${encodeURIComponent(id)}`}${search}`;
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
    const { value } = this.route;
    const kept = change.page === undefined || change.page === value.page ? value.id : undefined;
    const route: Route = {
      page: change.page ?? value.page,
      id: "id" in change ? change.id : kept,
      filter: change.filter ?? value.filter,
    };
    const hash = routeHash(route);
    if (hash !== location.hash) {
      if (replace) history.replaceState(null, "", hash);
      else history.pushState(null, "", hash);
    }
    this.#take(route);
  }
}
