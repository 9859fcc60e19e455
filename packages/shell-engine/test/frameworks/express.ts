import { createShellEngine } from "@harnesskit/shell-engine";
import { createFetchHandler } from "@harnesskit/transport-http";
import { toNodeHandler } from "@harnesskit/transport-http/node";
import express from "express";

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
const app = express();
app.post("/openharness", toNodeHandler(handler)); // before express.json()
app.use(express.json());
export const server = app.listen(Number(PORT));
