import { hubPaths, PageSessionRequestSchema } from "@harnesskit/protocol/hub";
import type { FallbackHandler } from "@harnesskit/transport-http/node";
import type { HubAccess, HubPrincipal } from "./access.ts";
import { jsonAnswer, pageHeaders, plainAnswer, readJsonBody } from "./page-answers.ts";
import type { PageFiles } from "./page-files.ts";

export interface PageHandlerOptions {
  readonly access: HubAccess;
  readonly files: PageFiles;
  /** Answers links of notices; undefined for a path that is not theirs. */
  readonly answers: (request: Request, path: string) => Promise<Response | undefined>;
  /** More handlers, by path, for the holder of the token. */
  readonly handlers: Readonly<Record<string, FallbackHandler<HubPrincipal>>>;
  /** Reports a ticket that was refused. */
  readonly onRefused: (path: string) => void;
}

/** Files whose names hold a hash of their content never change. */
const isHashed = (path: string): boolean => /^\/assets\/.*-[\w-]{8,}\.\w+$/.test(path);

/** Serves the page, its sessions and tickets. Host, origin and credentials were checked before. */
export const createPageHandler = ({
  access,
  files,
  answers,
  handlers,
  onRefused,
}: PageHandlerOptions): FallbackHandler<HubPrincipal> => {
  const session = async (request: Request): Promise<Response> => {
    const asked = PageSessionRequestSchema.safeParse(await readJsonBody(request));
    const made = asked.success ? access.session(asked.data.ticket) : undefined;
    if (made !== undefined) return jsonAnswer(made);
    onRefused(hubPaths.session);
    return plainAnswer(
      401,
      "This link was used before, or is too old. Open the page again: harness hub --open",
    );
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
      return plainAnswer(
        503,
        "The page of the hub is not built. Build it with: npx pnpm --filter @harnesskit/hub-web build",
      );
    }
    return plainAnswer(404, "Nothing is served at this path.");
  };
  return async (request, context) => {
    const { path, principal } = context;
    const { method } = request;
    if (path === hubPaths.session || path === hubPaths.ticket || path === hubPaths.open) {
      if (method !== "POST") return plainAnswer(405, "This path takes POST.", { allow: "POST" });
      if (path === hubPaths.session) return session(request);
      return jsonAnswer({ ticket: path === hubPaths.open ? access.openTicket() : access.socketTicket() });
    }
    const answered = await answers(request, path);
    if (answered !== undefined) return answered;
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    if (handler !== undefined) {
      if (principal.kind === "token") return handler(request, context);
      return plainAnswer(401, "Credentials are needed: Authorization: Bearer.", {
        "www-authenticate": 'Bearer realm="harness"',
      });
    }
    if (method !== "GET" && method !== "HEAD")
      return plainAnswer(405, "This path takes GET.", { allow: "GET, HEAD" });
    return file(path);
  };
};
