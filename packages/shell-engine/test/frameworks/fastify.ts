import { createShellEngine } from "@harnesskit/shell-engine";
import { createFetchHandler } from "@harnesskit/transport-http";
import { toNodeHandler } from "@harnesskit/transport-http/node";
import fastify from "fastify";

const { PORT = "3000", ENGINE_TOKEN = "" } = process.env;
const intent = ({ intent = "" }) => [
  { action_type: "render_message", payload: { message: `You said: ${intent}` } },
];
const engine = createShellEngine({ handlers: { intent } });
const handler = createFetchHandler({
  ...engine,
  path: "/openharness",
  token: ENGINE_TOKEN,
  allowedHosts: ["localhost"],
});
const app = fastify();
app.register((own, _options, ready) => {
  own.removeAllContentTypeParsers(); // the engine reads the body
  own.addContentTypeParser("*", (_request, _body, done) => done(null));
  own.post("/openharness", (request, reply) => {
    reply.hijack();
    return toNodeHandler(handler)(request.raw, reply.raw);
  });
  ready();
});
await app.listen({ port: Number(PORT) });
export const { server } = app;
