import { InvalidArgumentError } from "@harnesskit/wire";
import { refusal } from "./answers.ts";
import type { Answer, RequestView } from "./request-view.ts";

export interface SiteRules {
  /**
   * The hosts that requests may be made to, as `Host` has them: `localhost` for any port, `127.0.0.1:8080` for one.
   * A page of another site that was made to resolve to this machine is refused by it (DNS rebinding).
   */
  readonly allowedHosts: readonly string[];
  /** The origins whose pages may send requests, as `https://app.example`. A request without an origin is none of a page's. */
  readonly allowedOrigins: readonly string[];
}

const hostPattern = /^(?:\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::\d{1,5})?$/;

const checkedHost = (host: string): string => {
  const lower = host.toLowerCase();
  if (hostPattern.test(lower)) return lower;
  throw new InvalidArgumentError(
    `an allowed host is a name or address with or without a port: ${JSON.stringify(host)}`,
  );
};

const checkedOrigin = (origin: string): string => {
  const parsed = URL.canParse(origin) ? new URL(origin).origin : undefined;
  if (parsed === origin && origin !== "null" && !origin.includes("*")) return origin;
  throw new InvalidArgumentError(
    `an allowed origin is one origin, and no wildcard: ${JSON.stringify(origin)}`,
  );
};

/** Who may send requests here, by the names that browsers tell. */
export interface SiteGuard {
  /** The refusal of a request that was made to another host or by a page of another origin. */
  check(request: RequestView): Answer | undefined;
  /** The headers that let the page of an allowed origin read an answer. */
  corsHeaders(request: RequestView): Readonly<Record<string, string>>;
  /** The answer to a preflight, which asks before a page's request; undefined for any other request. */
  preflight(request: RequestView): Answer | undefined;
}

/** What a page's request may have: its message, its credentials, and what traces it (W3C Trace Context, and the two customary ids). */
const requestHeaders =
  "authorization, content-type, traceparent, tracestate, x-api-key, x-correlation-id, x-request-id";

/** What the page may read of an answer, beside what every page may. */
const answerHeaders = "retry-after, x-correlation-id, x-request-id";

/** What `corsHeaders` gives where there is nothing to say. */
export const noHeaders: Readonly<Record<string, string>> = {};

/** Makes the guard. Throws `invalid_argument` for what is no host or origin. */
export const createSiteGuard = (rules: SiteRules): SiteGuard => {
  const hosts = new Set(rules.allowedHosts.map(checkedHost));
  const origins = new Set(rules.allowedOrigins.map(checkedOrigin));
  if (hosts.size === 0) throw new InvalidArgumentError("allowedHosts names at least one host");
  // Nearly all requests name the same one.
  let lastAllowed: string | undefined;
  const isAllowedHost = (authority: string | undefined): boolean => {
    if (authority === undefined) return false;
    if (authority === lastAllowed) return true;
    const lower = authority.toLowerCase();
    if (!hostPattern.test(lower)) return false;
    const isAllowed = hosts.has(lower) || hosts.has(lower.replace(/:\d+$/, ""));
    if (isAllowed) lastAllowed = authority;
    return isAllowed;
  };
  const corsHeaders = (request: RequestView): Readonly<Record<string, string>> => {
    if (origins.size === 0) return noHeaders;
    const origin = request.header("origin");
    if (origin === undefined || !origins.has(origin)) return { vary: "Origin" };
    return {
      vary: "Origin",
      "access-control-allow-origin": origin,
      "access-control-expose-headers": answerHeaders,
    };
  };
  return {
    check(request) {
      if (!isAllowedHost(request.authority)) return refusal(403);
      const origin = request.header("origin");
      return origin === undefined || origins.has(origin) ? undefined : refusal(403);
    },
    corsHeaders,
    preflight(request) {
      if (request.method !== "OPTIONS" || request.header("origin") === undefined) return undefined;
      if (request.header("access-control-request-method") === undefined) return undefined;
      const asksPrivate = request.header("access-control-request-private-network") === "true";
      return {
        status: 204,
        headers: {
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": requestHeaders,
          "access-control-max-age": "600",
          ...(asksPrivate && { "access-control-allow-private-network": "true" }),
        },
      };
    },
  };
};
