import { type Clock, defaultWireLimits, InvalidArgumentError, systemClock } from "@harnesskit/wire";
import { assertCounts, assertPath, assertTimes } from "../check-options.ts";
import type { Authenticate } from "./authenticate.ts";
import { checkedContextHeaders, defaultContextHeaders } from "./context.ts";
import { ExchangeCore, type ExchangeRoute, type OnServerError } from "./exchange-core.ts";
import { createHealthRules, type HealthOptions } from "./health.ts";
import { createSiteGuard, type SiteGuard, type SiteRules } from "./site-rules.ts";

/** What every server of exchanges can set. */
export interface HandlerOptions {
  /** The origins whose pages may post, as `https://app.example`; there is no wildcard. @default none */
  readonly allowedOrigins?: readonly string[];
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  readonly maxBodyBytes?: number;
  /** How deep a message may nest. @default 64 */
  readonly maxDepth?: number;
  /** How long a body may take to arrive, then 408, and `authenticate` to answer, then 503. @default 10000 */
  readonly bodyTimeoutMs?: number;
  /** Messages that are read or handled at one time; further ones are answered 503. @default 256 */
  readonly maxInFlight?: number;
  /** Headers that the context shows, beside none that holds a credential. @default ["user-agent"] */
  readonly contextHeaders?: readonly string[];
  /** Paths that tell how the server is; `false` for none. @default `/healthz` and `/readyz` */
  readonly health?: HealthOptions | false;
  /** Told what a client learns no more of than a 500. What it throws is ignored. @default nobody */
  readonly onError?: OnServerError;
  /** @default the real time */
  readonly clock?: Clock;
}

/** The rules that a server has beside its exchanges. */
export interface CoreParts<Principal> {
  readonly core: ExchangeCore<Principal>;
  readonly guard: SiteGuard;
  readonly contextHeaders: readonly string[];
}

export interface CoreSetup<Principal> extends Pick<SiteRules, "allowedHosts"> {
  readonly routes: Readonly<Record<string, ExchangeRoute<Principal>>>;
  readonly authenticate: Authenticate<Principal>;
}

/** Checks the options and makes the rules. Throws `invalid_argument`. */
export const createCore = <Principal>(
  options: HandlerOptions,
  { routes, authenticate, allowedHosts }: CoreSetup<Principal>,
): CoreParts<Principal> => {
  const {
    maxBodyBytes = defaultWireLimits.maxFrameBytes,
    maxDepth = defaultWireLimits.maxDepth,
    bodyTimeoutMs = 10_000,
    maxInFlight = 256,
    clock = systemClock,
  } = options;
  assertCounts({ maxBodyBytes, maxDepth, maxInFlight });
  assertTimes({ bodyTimeoutMs });
  for (const path of Object.keys(routes)) assertPath(path);
  if (typeof authenticate !== "function") throw new InvalidArgumentError("authenticate is a function");
  const guard = createSiteGuard({ allowedHosts, allowedOrigins: options.allowedOrigins ?? [] });
  const contextHeaders = checkedContextHeaders(options.contextHeaders ?? defaultContextHeaders);
  const core = new ExchangeCore<Principal>({
    routes: new Map(Object.entries(routes)),
    guard,
    health: createHealthRules(options.health),
    authenticate,
    contextHeaders,
    maxBodyBytes,
    maxDepth,
    bodyTimeoutMs,
    maxInFlight,
    clock,
    onError: options.onError,
  });
  return { core, guard, contextHeaders };
};
