import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { plainText } from "./answers.ts";
import type { Answer, RequestView } from "./request-view.ts";

export interface SiteRules {
  /**
   * The hosts that requests may be made to, as `Host` has them: `localhost` for any port, `127.0.0.1:8080` for one.
   * This refuses a page of another site whose name was made to resolve to this machine (DNS rebinding).
   */
  readonly allowedHosts: readonly string[];
  /** The origins whose pages may send requests, as `https://app.example`. A request without an origin does not come from a page. */
  readonly allowedOrigins: readonly string[];
  /** Whether pages of the allowed hosts may send requests, too: the application that mounts the handler serves them. @default false */
  readonly allowHostOrigins?: boolean;
}

const hostPattern = /^(?:\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::\d{1,5})?$/;

const checkedHost = (host: string): string => {
  const lower = host.toLowerCase();
  if (hostPattern.test(lower)) return lower;
  throw new InvalidArgumentError(
    `an allowed host must be a name or address, optionally with a port, got ${JSON.stringify(host)}`,
  );
};

const checkedOrigin = (origin: string): string => {
  const parsed = URL.canParse(origin) ? new URL(origin).origin : undefined;
  if (parsed === origin && origin !== "null" && !origin.includes("*")) return origin;
  throw new InvalidArgumentError(
    `an allowed origin must be one origin without a wildcard, got ${JSON.stringify(origin)}`,
  );
};

/** Decides by `Host` and `Origin` which requests are taken. */
export interface SiteGuard {
  /** The refusal of a request that was made to another host or by a page of another origin. */
  check(request: RequestView): Answer | undefined;
  /** The headers that let the page of an allowed origin read an answer. */
  corsHeaders(request: RequestView): Readonly<Record<string, string>>;
  /** The answer to a preflight, which asks before a page's request; undefined for any other request. */
  preflight(request: RequestView): Answer | undefined;
}

/** Untrusted text in a refusal. */
const shown = (text = ""): string => JSON.stringify(displayText(text, { maxLength: 200 }));

/** The headers that a page may send: its message's, its credentials, and its trace (W3C Trace Context, and the two customary ids). */
const requestHeaders =
  "authorization, content-type, traceparent, tracestate, x-api-key, x-correlation-id, x-request-id";

/** The headers that a page may read of an answer, beside those that every page may. */
const answerHeaders = "retry-after, x-correlation-id, x-error-code, x-request-id";

/** Creates the guard. Throws `invalid_argument` for an invalid host or origin. */
export const createSiteGuard = (rules: SiteRules): SiteGuard => {
  const hosts = new Set(rules.allowedHosts.map(checkedHost));
  const origins = new Set(rules.allowedOrigins.map(checkedOrigin));
  if (hosts.size === 0) throw new InvalidArgumentError("allowedHosts must name at least one host");
  const isAllowedHost = (authority = ""): boolean => {
    const lower = authority.toLowerCase();
    return hostPattern.test(lower) && (hosts.has(lower) || hosts.has(lower.replace(/:\d+$/, "")));
  };
  /** A page of the host that it asks, or of one that is listed with the origin's own port; over HTTPS no page without it. */
  const isOwnOrigin = (origin: string, { authority = "", isSecure }: RequestView): boolean => {
    if (!rules.allowHostOrigins || !/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
    const { host, origin: whole, protocol } = new URL(origin);
    if (whole !== origin || (isSecure && protocol !== "https:")) return false;
    return hosts.has(host) || host === authority.toLowerCase();
  };
  const corsHeaders = (request: RequestView): Readonly<Record<string, string>> => {
    if (origins.size === 0) return {};
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
      const { authority } = request;
      if (!isAllowedHost(authority))
        return plainText(403, `The host ${shown(authority)} is not in allowedHosts.`);
      const origin = request.header("origin");
      if (origin === undefined || origins.has(origin) || isOwnOrigin(origin, request)) return undefined;
      return plainText(403, `The origin ${shown(origin)} is not in allowedOrigins.`);
    },
    corsHeaders,
    preflight(request) {
      if (request.method !== "OPTIONS" || request.header("origin") === undefined) return undefined;
      if (request.header("access-control-request-method") === undefined) return undefined;
      const asksPrivate = request.header("access-control-request-private-network") === "true";
      return {
        status: 204,
        headers: defined({
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": requestHeaders,
          "access-control-max-age": "600",
          "access-control-allow-private-network": asksPrivate ? "true" : undefined,
        }),
      };
    },
  };
};

/** Throws `invalid_argument` unless it is a path as a request line has it: from a slash, without query and spaces. */
export const assertPath = (path: string): void => {
  if (/^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/.test(path)) return;
  throw new InvalidArgumentError(
    `a path begins with a slash and holds no query, fragment or space: ${JSON.stringify(path)}`,
  );
};
