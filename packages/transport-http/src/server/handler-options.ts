import { type Clock, InvalidArgumentError, systemClock } from "@harnesskit/wire";
import { assertPath } from "../check-options.ts";
import type { HandlerLimits } from "../limits.ts";
import type { Authenticate } from "./authenticate.ts";
import { checkedContextHeaders, defaultContextHeaders } from "./context.ts";
import {
  ExchangeCore,
  type ExchangeRoute,
  type OnServerError,
  type RefusedRequest,
} from "./exchange-core.ts";
import { createHealthRules, type HealthOptions } from "./health.ts";
import { createSiteGuard, type SiteGuard, type SiteRules } from "./site-rules.ts";

/** What every server of exchanges can set. */
export interface HandlerOptions {
  /** The origins whose pages may post, as `https://app.example`; without wildcards. @default none; a fetch handler also takes pages of its `allowedHosts` */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** @default see each limit */
  readonly limits?: Partial<HandlerLimits> | undefined;
  /** Headers that the context shows, beside none that holds a credential. @default ["user-agent"] */
  readonly contextHeaders?: readonly string[] | undefined;
  /** Paths that tell how the server is; `false` for none. @default `/healthz` and `/readyz` */
  readonly health?: HealthOptions | false | undefined;
  /**
   * Receives the failures of which a client sees only a 500, and with an empty path that the system gives a server no more connections. What it
   * throws is ignored. @default ignores them
   */
  readonly onError?: OnServerError | undefined;
  /** Receives requests that were refused for their host, origin or credentials. What it throws is ignored. @default ignores them */
  readonly onRefused?: ((request: RefusedRequest) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** The rules that a server has beside its exchanges. */
export interface CoreParts<Principal> {
  readonly core: ExchangeCore<Principal>;
  readonly guard: SiteGuard;
  readonly contextHeaders: readonly string[];
}

export interface CoreSetup<Principal> extends Pick<SiteRules, "allowedHosts" | "allowHostOrigins"> {
  readonly routes: Readonly<Record<string, ExchangeRoute<Principal>>>;
  readonly authenticate: Authenticate<Principal>;
  readonly limits: HandlerLimits;
}

/** Checks the options and makes the rules. Throws `invalid_argument`. */
export const createCore = <Principal>(
  options: HandlerOptions,
  { routes, authenticate, allowedHosts, allowHostOrigins = false, limits }: CoreSetup<Principal>,
): CoreParts<Principal> => {
  for (const path of Object.keys(routes)) assertPath(path);
  if (typeof authenticate !== "function") throw new InvalidArgumentError("authenticate is a function");
  const guard = createSiteGuard({
    allowedHosts,
    allowedOrigins: options.allowedOrigins ?? [],
    allowHostOrigins,
  });
  const contextHeaders = checkedContextHeaders(options.contextHeaders ?? defaultContextHeaders);
  const core = new ExchangeCore<Principal>({
    routes: new Map(Object.entries(routes)),
    guard,
    health: createHealthRules(options.health),
    authenticate,
    contextHeaders,
    limits,
    clock: options.clock ?? systemClock,
    onError: options.onError,
    onRefused: options.onRefused,
  });
  return { core, guard, contextHeaders };
};
