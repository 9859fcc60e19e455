import { hubPaths, PageSessionRequestSchema } from "@harnesskit/protocol/hub";
import type { FallbackHandler } from "@harnesskit/transport-http/node";
import type { HubAccess, HubPrincipal } from "./access.ts";
import type { PageFiles } from "./page-files.ts";

export interface PageHandlerOptions {
  readonly access: HubAccess;
  readonly files: PageFiles;
  /** More handlers, by path, for the holder of the token. */
  readonly handlers: Readonly<Record<string, FallbackHandler<HubPrincipal>>>;
  /** Reports a ticket that was refused. */
  readonly onRefused: (path: string) => void;
}

const maxBodyBytes = 4096;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const pageHeaders = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

const plain = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${text}\n`, {
    status,
    headers: {
      ...pageHeaders,
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      ...headers,
    },
  });

const json = (value: unknown): Response =>
  new Response(JSON.stringify(value), {
    headers: { ...pageHeaders, "content-type": "application/json", "cache-control": "no-store" },
  });

/** The body's JSON; undefined for one that is too large or not JSON. */
const readJsonBody = async (request: Request): Promise<unknown> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
};

/** Files whose names hold a hash of their content never change. */
const isHashed = (path: string): boolean => /^\/assets\/.*-[\w-]{8,}\.\w+$/.test(path);

/** Serves the page, its sessions and tickets. Host, origin and credentials were checked before. */
export const createPageHandler = ({
  access,
  files,
  handlers,
  onRefused,
}: PageHandlerOptions): FallbackHandler<HubPrincipal> => {
  const session = async (request: Request): Promise<Response> => {
    const asked = PageSessionRequestSchema.safeParse(await readJsonBody(request));
    const made = asked.success ? access.session(asked.data.ticket) : undefined;
    if (made !== undefined) return json(made);
    onRefused(hubPaths.session);
    return plain(401, "This link was used before, or is too old. Open the page again: harness hub --open");
  };
  const file = async (path: string): Promise<Response> => {
    const found = await files.get(path);
    if (found !== undefined) {
      const cache = isHashed(path) ? "public, max-age=31536000, immutable" : "no-cache";
      return new Response(found.body, {
        headers: { ...pageHeaders, "content-type": found.type, "cache-control": cache },
      });
    }
    if (path === "/" && !(await files.isBuilt())) {
      return plain(
        503,
        "The page of the hub is not built. Build it with: npx pnpm --filter @harnesskit/hub-web build",
      );
    }
    return plain(404, "Nothing is served at this path.");
  };
  return async (request, context) => {
    const { path, principal } = context;
    const { method } = request;
    if (path === hubPaths.session || path === hubPaths.ticket || path === hubPaths.open) {
      if (method !== "POST") return plain(405, "This path takes POST.", { allow: "POST" });
      if (path === hubPaths.session) return session(request);
      return json({ ticket: path === hubPaths.open ? access.openTicket() : access.socketTicket() });
    }
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    if (handler !== undefined) {
      if (principal.kind === "token") return handler(request, context);
      return plain(401, "Credentials are needed: Authorization: Bearer.", {
        "www-authenticate": 'Bearer realm="harness"',
      });
    }
    if (method !== "GET" && method !== "HEAD")
      return plain(405, "This path takes GET.", { allow: "GET, HEAD" });
    return file(path);
  };
};
