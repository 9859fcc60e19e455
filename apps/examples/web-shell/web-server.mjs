import { once } from "node:events";
import { createServer } from "node:http";
import { shellHeaders } from "@harnesskit/shell-engine";
import { createFetchHandler } from "@harnesskit/transport-http";
import { toNodeHandler } from "@harnesskit/transport-http/node";

/** Where the engine is. */
export const enginePath = "/openharness";

/**
 * Serves a page and an engine on one port of this machine, so that the page needs no permission of another origin. Gives
 * the origin. The engine lets in who shows the token; `page` is a web-standard handler.
 */
export const startWebServer = async ({ engine, page, token, port = 0 }) => {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${server.address().port}`;
  const origin = `http://${host}`;
  const handler = createFetchHandler({
    ...engine,
    path: enginePath,
    token,
    allowedHosts: [host],
    allowedOrigins: [origin],
    contextHeaders: shellHeaders,
  });
  const route = (request) => {
    const { pathname, host: asked } = new URL(request.url);
    // A name that was made to resolve to this machine is not one of its names.
    if (asked !== host) return new Response("Another host.\n", { status: 403 });
    return pathname === enginePath ? handler(request) : page(request);
  };
  server.on("request", toNodeHandler(route));
  return origin;
};
