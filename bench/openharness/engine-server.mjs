// harnesskit: an engine with everything on (token, checks of both directions, negotiation, memory of ids) and a trivial handler.
import { createShellEngine, shellHeaders } from "@harnesskit/shell-engine";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { token } from "./loader.mjs";
import { directives } from "./messages.mjs";

const engine = createShellEngine({ handlers: { intent: () => directives } });
const server = createHttpServer({ routes: { "/openharness": engine }, token, contextHeaders: shellHeaders });
await server.listen();
process.send(server.port);
process.on("disconnect", () => process.exit(0));
