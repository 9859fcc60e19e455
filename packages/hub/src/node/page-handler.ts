import { hubPaths, PageSessionRequestSchema, PairRequestSchema } from "@harnesskit/protocol/hub";
import type { FallbackHandler } from "@harnesskit/transport-http/node";
import type { HubAccess, HubPrincipal } from "./access.ts";
import type { Devices } from "./devices/devices.ts";
import { jsonAnswer, pageHeaders, plainAnswer, readJsonBody } from "./page-answers.ts";
import type { PageFiles } from "./page-files.ts";

export interface PageHandlerOptions {
  readonly access: HubAccess;
  readonly devices: Pick<Devices, "redeem">;
  readonly files: PageFiles;
  /** Answers links of notices; undefined for a path that is not theirs. */
  readonly answers: (request: Request, path: string) => Promise<Response | undefined>;
  /** More handlers, by path, for the holder of the token. */
  readonly handlers: Readonly<Record<string, FallbackHandler<HubPrincipal>>>;
  /** Reports a ticket that was refused. */
  readonly onRefused: (path: string) => void;
}

const accessPaths: ReadonlySet<string> = new Set([
  hubPaths.session,
  hubPaths.pair,
  hubPaths.ticket,
  hubPaths.open,
]);

/** Files whose names hold a hash of their content never change. */
const isHashed = (path: string): boolean => /^\/assets\/.*-[\w-]{8,}\.\w+$/.test(path);

const again = "Get a new one on the hub's machine: harness hub --pair";
const pairingTexts: Readonly<Record<string, string>> = {
  pairing_unknown: `There is no such pairing code. ${again}`,
  pairing_used: `This pairing code was used before. If it was not you who used it, revoke the device that it paired. ${again}`,
  pairing_expired: `This pairing code is too old. ${again}`,
  wrong_origin: "This hub pairs devices at another address: open the link that it shows.",
};

/** Serves the page, its sessions and tickets. Host, origin and credentials were checked before. */
export const createPageHandler = ({
  access,
  devices,
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
  const pair = async (request: Request, remote: string | undefined): Promise<Response> => {
    const asked = PairRequestSchema.safeParse(await readJsonBody(request));
    if (!asked.success) return plainAnswer(400, "A pairing code and a name of the device are needed.");
    const origin = request.headers.get("origin") ?? undefined;
    const paired = await devices.redeem(asked.data, { origin, remote });
    return "refused" in paired ? plainAnswer(401, pairingTexts[paired.refused] ?? "") : jsonAnswer(paired);
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
    if (accessPaths.has(path)) {
      if (method !== "POST") return plainAnswer(405, "This path takes POST.", { allow: "POST" });
      if (path === hubPaths.session) return session(request);
      if (path === hubPaths.pair) return pair(request, context.remoteAddress);
      const ticket = path === hubPaths.open ? access.openTicket() : access.socketTicket(principal.device);
      return jsonAnswer({ ticket });
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
    const beside = Object.keys(handlers).filter((each) => isBeside(each, path));
    if (beside.length > 0)
      return plainAnswer(404, `Nothing is served at this path. There are ${beside.join(", ")}.`);
    if (method !== "GET" && method !== "HEAD")
      return plainAnswer(405, "This path takes GET.", { allow: "GET, HEAD" });
    return file(path);
  };
};

/** Whether two paths have the same parent, which is not the root. */
const isBeside = (one: string, other: string): boolean => {
  const parent = one.slice(0, one.lastIndexOf("/") + 1);
  return parent !== "/" && other.startsWith(parent);
};
