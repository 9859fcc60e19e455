import { randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { allowAnyone, readBody } from "@harnesskit/transport-http";
import { createHttpServer, type FallbackHandler } from "@harnesskit/transport-http/node";
import { unavailableError } from "../cli-error.ts";
import { io } from "../io.ts";

/** The engine that the page talks with. */
export interface PageEngine {
  readonly url: string;
  /** Undefined where the engine asks for none. */
  readonly token: string | undefined;
}

/** A page that is a shell of an engine, served on a port of its own. */
export interface EnginePage {
  /** The origin that the engine must allow. */
  readonly origin: string;
  /** A link that opens the page with the engine, once and for ten minutes. */
  link(engine: PageEngine): string;
  close(): Promise<void>;
}

const ticketMs = 10 * 60_000;
const maxBodyBytes = 1024;
const sessionPath = "/page/session";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page's built files: in this package, beside `dist`. */
const pageDirectory = (): string => {
  const found = ["../page/", "../../page/"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, "index.html")));
  if (found !== undefined) return found;
  throw unavailableError("page_missing", "--open: the page of this program was not built", {
    hint: { to: "In a clone of the repository", run: "npm run build" },
  });
};

const readFiles = async (directory: string) => {
  const files = new Map<string, { readonly body: Uint8Array<ArrayBuffer>; readonly type: string }>();
  for (const below of ["", "assets/"]) {
    for (const entry of await readdir(join(directory, below), { withFileTypes: true })) {
      const type = types[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const body = new Uint8Array(await readFile(join(directory, below, entry.name)));
      files.set(`/${below}${entry.name}`, { body, type });
    }
  }
  return files;
};

const headersOf = (engine: PageEngine | undefined) => ({
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${engine === undefined ? "" : ` ${new URL(engine.url).origin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
});

const isSame = (a: Uint8Array, wanted: string): boolean => {
  const b = Buffer.from(wanted);
  return a.length === b.length && timingSafeEqual(a, b);
};

/**
 * Serves the page on loopback. The engine's token is given for the ticket of the link alone, once. Rejects with a `CliError`
 * `page_missing`, and as a server that cannot listen.
 */
export const openEnginePage = async (onError: (error: unknown) => void): Promise<EnginePage> => {
  const files = await readFiles(pageDirectory());
  let engine: PageEngine | undefined;
  let ticket: { readonly text: string; readonly untilMs: number } | undefined;
  const fallback: FallbackHandler<unknown> = async (request, { path }) => {
    const headers = headersOf(engine);
    if (path === sessionPath && request.method === "POST") {
      const given = await readBody(request, maxBodyBytes);
      if (
        given === undefined ||
        ticket === undefined ||
        !isSame(given, ticket.text) ||
        io().clock.now() > ticket.untilMs
      ) {
        return new Response("This link was used before, or is too old.\n", { status: 401, headers });
      }
      ticket = undefined;
      return Response.json({ engine: engine?.url, token: engine?.token }, { headers });
    }
    const file = request.method === "GET" ? files.get(path === "/" ? "/index.html" : path) : undefined;
    if (file === undefined)
      return new Response("Nothing is served at this path.\n", { status: 404, headers });
    return new Response(file.body, { headers: { ...headers, "content-type": file.type } });
  };
  const server = createHttpServer<unknown>({
    authenticate: allowAnyone,
    allowOwnOrigin: true,
    fallback,
    onError,
  });
  await server.listen();
  const { url: origin = "" } = server;
  return {
    origin,
    link(shown) {
      engine = shown;
      ticket = { text: randomBytes(32).toString("base64url"), untilMs: io().clock.now() + ticketMs };
      return `${origin}/#ticket=${ticket.text}`;
    },
    close: () => server.close(),
  };
};
