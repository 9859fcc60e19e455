// What one would write with what is at hand: Express, and the normative schema's request message checked by ajv. No token, no memory.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import express from "express";
import { responseTo } from "./messages.mjs";

const schema = JSON.parse(
  readFileSync(
    new URL("../../packages/protocol/test/fixtures/openharness-v1.draft.json", import.meta.url),
    "utf8",
  ),
);
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(schema);
const validate = ajv.getSchema(`${schema.$id}#/$defs/requestMessage`);

const app = express();
app.disable("x-powered-by");
app.use(express.json({ limit: "4mb" }));
app.post("/openharness", (request, response) => {
  if (validate(request.body)) response.json(responseTo(request.body));
  else
    response.json({
      protocol_version: "1.0.0",
      response: { status: "error", error: { code: "invalid_request" } },
    });
});
const server = app.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit(0));
