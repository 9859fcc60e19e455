import { createShellEngine } from "@harnesskit/shell-engine";
import { createFetchHandler } from "@harnesskit/transport-http";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

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
const app = new Hono();
app.post("/openharness", (c) => handler(c.req.raw));
export const server = serve({ fetch: app.fetch, port: Number(PORT) });
