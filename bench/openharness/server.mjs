// A server of shell requests on a free port, which it sends: node server.mjs bare|express|engine
import { readFileSync } from "node:fs";
import { directives, responseTo, token } from "./messages.mjs";

const listening = (server) => server.once("listening", () => process.send(server.address().port));
const servers = {
  // The limit: node:http that parses each request and answers it with the same JSON. No check, no token, no memory.
  async bare() {
    const { createServer } = await import("node:http");
    const server = createServer((request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        const body = JSON.stringify(responseTo(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
        const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
        response.writeHead(200, headers).end(body);
      });
    });
    listening(server.listen(0, "127.0.0.1"));
  },
  // What one would write with what is at hand: Express, and the normative schema's request message checked by ajv. No token, no memory.
  async express() {
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    const { default: express } = await import("express");
    const file = "../../packages/protocol/test/fixtures/openharness-v1.draft.json";
    const schema = JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(schema);
    const validate = ajv.getSchema(`${schema.$id}#/$defs/requestMessage`);
    const refusal = { status: "error", error: { code: "invalid_request" } };
    const app = express();
    app.disable("x-powered-by");
    app.use(express.json({ limit: "4mb" }));
    app.post("/openharness", (request, response) => {
      if (validate(request.body)) response.json(responseTo(request.body));
      else response.json({ protocol_version: "1.0.0", response: refusal });
    });
    listening(app.listen(0, "127.0.0.1"));
  },
  // harnesskit: an engine with everything on (token, checks of both directions, negotiation, memory of ids) and a trivial handler.
  async engine() {
    const { createShellEngine, shellHeaders } = await import("@harnesskit/shell-engine");
    const { createHttpServer } = await import("@harnesskit/transport-http/node");
    const engine = createShellEngine({ handlers: { intent: () => directives } });
    const routes = { "/openharness": engine };
    const server = createHttpServer({ routes, token, contextHeaders: shellHeaders });
    await server.listen();
    process.send(server.port);
  },
};
await servers[process.argv[2]]();
process.on("disconnect", () => process.exit(0));
